// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include <backend/api/client.h>
#include <widgets/controls/page.h>

namespace gb::ui {

// The pages of the window in the order of the rail. The one place that knows them all.
struct PageEntry
{
    QString id;
    QString title;
    QString iconName;
    std::function<Page*()> make; // called when the page is first shown
};

std::vector<PageEntry> pageTable(api::Client& client);

} // namespace gb::ui
