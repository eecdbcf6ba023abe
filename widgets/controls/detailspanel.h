// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>

class QToolButton;
class QVBoxLayout;

namespace gb::ui {

class ElidedLabel;

// The panel at the right of a page. Folded it is a narrow strip with a button to open it again.
class DetailsPanel final : public QFrame
{
    Q_OBJECT

public:
    explicit DetailsPanel(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setContent(QWidget* content);
    void setOpen(bool open);
    bool isOpen() const { return m_open; }

Q_SIGNALS:
    void opened(bool open);

private:
    bool m_open = true;
    ElidedLabel* m_title = nullptr;
    QToolButton* m_fold = nullptr;
    QWidget* m_content = nullptr;
    QVBoxLayout* m_layout = nullptr;
};

} // namespace gb::ui
