// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFrame>
#include <QPointer>

class QTextBrowser;

namespace gb::ui {

// What F1 shows: the help of the page in front and the keys, over the right side of the window.
class HelpPanel final : public QFrame
{
    Q_OBJECT

public:
    explicit HelpPanel(QWidget* over);

    void open(const QString& pageId);
    void dismiss();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void place();

    QTextBrowser* m_text = nullptr;
    QPointer<QWidget> m_before;
};

} // namespace gb::ui
