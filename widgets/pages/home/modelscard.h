// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

#include <backend/api/client.h>

class QPushButton;

namespace gb::ui {

class ElidedLabel;
class EmptyState;
class FittingRows;

// The models that can be used without a download, the last used first.
class ModelsCard final : public QFrame
{
    Q_OBJECT

public:
    explicit ModelsCard(api::Client& client, QWidget* parent = nullptr);
    void refresh();

Q_SIGNALS:
    void chosen(const QString& model); // empty: all of them

private:
    void showModels(const Json& cache);

    api::Client& m_client;
    EmptyState* m_empty = nullptr;
    FittingRows* m_rows = nullptr;
    ElidedLabel* m_room = nullptr;
    QPushButton* m_all = nullptr;
};

} // namespace gb::ui
