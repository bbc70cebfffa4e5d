#include "report/page/document.h"

#include <fmt/format.h>

#include "core/text.h"
#include "report/text/markup.h"

namespace headprune {
namespace {

std::string trimmed_cell(const std::string& cell) { return std::string(trim(cell)); }

std::string markdown_table(const DocBlock& block) {
  std::string out;
  const auto add = [&](const std::vector<std::string>& row) {
    out += '|';
    for (const std::string& cell : row) out += ' ' + markdown_escape(trimmed_cell(cell)) + " |";
    out += '\n';
  };
  add(block.rows.front());
  out += '|';
  for (size_t i = 0; i < block.rows.front().size(); ++i) out += i < block.align_left ? " --- |" : " ---: |";
  out += '\n';
  for (size_t i = 1; i < block.rows.size(); ++i) add(block.rows[i]);
  return out;
}

/// A fence longer than any inside the text.
std::string fenced(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence + '\n' + text + (text.empty() || text.back() != '\n' ? "\n" : "") + fence + '\n';
}

std::string block_markdown(const DocBlock& block, int level) {
  switch (block.kind) {
    case DocBlock::Kind::heading:
      return std::string(static_cast<size_t>(level), '#') + ' ' + markdown_escape(block.text) + '\n';
    case DocBlock::Kind::paragraph:
      return markdown_escape(block.text) + '\n';
    case DocBlock::Kind::alert:
      return "> **" + markdown_escape(block.text) + "**\n";
    case DocBlock::Kind::list: {
      std::string out;
      for (const std::string& item : block.items) out += "- " + markdown_escape(item) + '\n';
      return out;
    }
    case DocBlock::Kind::table:
      return markdown_table(block);
    case DocBlock::Kind::figures: {
      std::string out;
      for (const Figure& figure : block.figures)
        out += fmt::format("{}![{}](plots/{})\n", out.empty() ? "" : "\n", markdown_escape(figure.alt), figure.file);
      return out;
    }
    case DocBlock::Kind::code:
      return fenced(block.text);
    case DocBlock::Kind::fold: {
      std::string out = std::string(static_cast<size_t>(level) + 1, '#') + ' ' + markdown_escape(block.text) + '\n';
      for (const DocBlock& one : block.inside) out += '\n' + block_markdown(one, level + 1);
      return out;
    }
  }
  return "";
}

std::string block_text(const DocBlock& block, size_t width) {
  switch (block.kind) {
    case DocBlock::Kind::heading:
      return block.text + '\n';
    case DocBlock::Kind::list: {
      std::string out;
      for (const std::string& item : block.items) out += wrapped(item, width, 2);
      return out;
    }
    case DocBlock::Kind::table:
      return text_table(block.rows, {width, 2, 1, 0, block.align_left});
    case DocBlock::Kind::figures:
      return "";
    case DocBlock::Kind::fold: {
      std::string out = block.text + '\n';
      for (const DocBlock& one : block.inside) out += block_text(one, width);
      return out;
    }
    default:
      return wrapped(block.text, width, 2);
  }
}

std::string html_table(const DocBlock& block) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table>\n";
  for (size_t i = 0; i < block.rows.size(); ++i) {
    out += i == 0 ? "<thead><tr>" : "<tr>";
    for (size_t column = 0; column < block.rows[i].size(); ++column) {
      const bool left = column < block.align_left;
      const char* tag = i == 0 ? "th scope=\"col\"" : column == 0 ? "th scope=\"row\"" : "td";
      const std::string cell = xml_escape(trimmed_cell(block.rows[i][column]));
      out +=
          fmt::format("<{}{}>{}</{}>", tag, left ? " class=\"left\"" : "", cell, i == 0 || column == 0 ? "th" : "td");
    }
    out += i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html_figures(const DocBlock& block) {
  std::string out = "<div class=\"figures\">\n";
  for (const Figure& figure : block.figures) {
    for (const Svg& panel : figure.panels) {
      out += "<figure>" + panel.element(figure.alt);
      if (!figure.caption.empty()) out += fmt::format("<figcaption>{}</figcaption>", xml_escape(figure.caption));
      out += "</figure>\n";
    }
  }
  return out + "</div>\n";
}

std::string block_html(const DocBlock& block) {
  switch (block.kind) {
    case DocBlock::Kind::heading:
      return fmt::format("<h2>{}</h2>\n", xml_escape(block.text));
    case DocBlock::Kind::paragraph:
      return fmt::format("<p>{}</p>\n", xml_escape(block.text));
    case DocBlock::Kind::alert:
      return fmt::format("<p class=\"alert\" role=\"note\">{}</p>\n", xml_escape(block.text));
    case DocBlock::Kind::list: {
      std::string out = "<ul>\n";
      for (const std::string& item : block.items) out += fmt::format("<li>{}</li>\n", xml_escape(item));
      return out + "</ul>\n";
    }
    case DocBlock::Kind::table:
      return html_table(block);
    case DocBlock::Kind::figures:
      return html_figures(block);
    case DocBlock::Kind::code:
      return fmt::format("<pre class=\"scroll\" tabindex=\"0\">{}</pre>\n", xml_escape(block.text));
    case DocBlock::Kind::fold: {
      std::string out = fmt::format("<details><summary>{}</summary>\n", xml_escape(block.text));
      for (const DocBlock& one : block.inside) out += block_html(one);
      return out + "</details>\n";
    }
  }
  return "";
}

constexpr const char* kPageStyle = R"css(
:root{color-scheme:light dark;--ink:#1c2128;--muted:#59636e;--rule:#d9dee3;--paper:#fff;--shade:#f5f7f9;--alert:#fff3d6;--alert-rule:#c98a00}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--muted:#9aa4af;--rule:#343b44;--paper:#14181d;--shade:#1c2229;--alert:#3a2f12;--alert-rule:#d9a520}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{max-width:1080px;margin:0 auto;padding:1.2rem clamp(.8rem,3vw,2rem) 4rem}
h1{font-size:1.6rem;margin:.2rem 0 .8rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--rule)}
p,li{max-width:46rem;overflow-wrap:anywhere}
ul{padding-left:1.2rem}
.alert{background:var(--alert);border-left:4px solid var(--alert-rule);padding:.6rem .8rem;max-width:none}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:separate;border-spacing:0;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
th{font-weight:600}tbody th{font-weight:500}
th.left,td.left{text-align:left}
tbody th,thead th:first-child{position:sticky;left:0;background:var(--paper)}
thead th{border-bottom:2px solid var(--rule)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:1.4rem 2rem;margin:1rem 0;align-items:start}
figure{margin:0;max-width:560px}
figure svg{display:block;width:100%;height:auto}
figcaption{font-size:.8rem;color:var(--muted)}
details{margin:.6rem 0}
summary{cursor:pointer;color:var(--muted)}
pre{background:var(--shade);padding:.8rem;font:.8rem/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,monospace;border-radius:4px}
@media print{table{font-size:75%}:root{--ink:#000;--muted:#444;--rule:#bbb;--paper:#fff;--shade:#f5f5f5;--alert:#fff;color-scheme:light}main{max-width:none;padding:0}figure,tr{break-inside:avoid}h2{break-after:avoid}.scroll{overflow:visible}pre{white-space:pre-wrap}details::details-content{content-visibility:visible;block-size:auto}}
)css";

}  // namespace

DocBlock heading_block(const std::string& text) {
  DocBlock block;
  block.kind = DocBlock::Kind::heading;
  block.text = text;
  return block;
}

DocBlock paragraph_block(const std::string& text) {
  DocBlock block;
  block.text = text;
  return block;
}

DocBlock alert_block(const std::string& text) {
  DocBlock block;
  block.kind = DocBlock::Kind::alert;
  block.text = text;
  return block;
}

DocBlock list_block(const std::vector<std::string>& items) {
  DocBlock block;
  block.kind = DocBlock::Kind::list;
  block.items = items;
  return block;
}

DocBlock table_block(TextRows rows, size_t align_left) {
  DocBlock block;
  block.kind = DocBlock::Kind::table;
  block.rows = std::move(rows);
  block.align_left = align_left;
  return block;
}

DocBlock figures_block(std::vector<Figure> figures) {
  DocBlock block;
  block.kind = DocBlock::Kind::figures;
  block.figures = std::move(figures);
  return block;
}

DocBlock code_block(const std::string& text) {
  DocBlock block;
  block.kind = DocBlock::Kind::code;
  block.text = text;
  return block;
}

DocBlock fold_block(const std::string& title, std::vector<DocBlock> inside) {
  DocBlock block;
  block.kind = DocBlock::Kind::fold;
  block.text = title;
  block.inside = std::move(inside);
  return block;
}

std::string document_text(const Document& document, size_t width) {
  std::string out;
  for (const DocBlock& block : document.blocks) {
    if (block.kind == DocBlock::Kind::heading && !out.empty()) out += '\n';
    out += block_text(block, width);
  }
  return out;
}

std::string document_markdown(const Document& document) {
  std::string out;
  for (const DocBlock& block : document.blocks) {
    if (!out.empty()) out += '\n';
    out += block_markdown(block, 2);
  }
  return out;
}

std::string document_html(const Document& document) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title>\n<style>{1}{2}</style>\n"
      "</head>\n<body>\n<main>\n<h1>{0}</h1>\n",
      xml_escape(document.title), kPageStyle, svg_style());
  for (const DocBlock& block : document.blocks) out += block_html(block);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace headprune
