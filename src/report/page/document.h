// A report as a list of blocks, and its renderings. Markdown and HTML escape all text.
#pragma once

#include <string>
#include <vector>

#include "report/page/figures.h"
#include "report/text/text_table.h"

namespace headprune {

struct DocBlock {
  enum class Kind { heading, paragraph, alert, list, table, figures, code, fold };
  Kind kind = Kind::paragraph;
  std::string text;                // heading, paragraph, alert, code, title of a fold
  std::vector<std::string> items;  // of a list
  TextRows rows;                   // of a table, header first
  size_t align_left = 1;           // columns of a table that hold text
  std::vector<Figure> figures;
  std::vector<DocBlock> inside;  // of a fold: shown on demand in HTML, always in Markdown
};

struct Document {
  std::string title;
  std::vector<DocBlock> blocks;
};

DocBlock heading_block(const std::string& text);
DocBlock paragraph_block(const std::string& text);
/// Something that must not be overlooked.
DocBlock alert_block(const std::string& text);
DocBlock list_block(const std::vector<std::string>& items);
DocBlock table_block(TextRows rows, size_t align_left = 1);
DocBlock figures_block(std::vector<Figure> figures);
DocBlock code_block(const std::string& text);
DocBlock fold_block(const std::string& title, std::vector<DocBlock> inside);

/// For a terminal; figures are left out, folds are shown.
std::string document_text(const Document& document, size_t width);
/// GitHub's Markdown. Figures are links to plots/.
std::string document_markdown(const Document& document);
/// One self-contained page: no network, no script, light and dark, printable, from 320 pixels of width up.
std::string document_html(const Document& document);

}  // namespace headprune
