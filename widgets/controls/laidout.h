// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

class QTextDocument;

namespace gb::ui {

// Headings in the window's scale, room between paragraphs, quiet tables: what a document brings is too loud.
void layOutQuietly(QTextDocument* document);

} // namespace gb::ui
