// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QFrame>

#include <backend/base/error.h>

#include "tokens.h"

class QBoxLayout;
class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QToolButton;

namespace gb::ui {

// What happened, why, and a way out, at the place where it happened. Hidden until something is shown in it.
class Banner final : public QFrame
{
    Q_OBJECT

public:
    explicit Banner(QWidget* parent = nullptr);

    void show(Tone tone, const QString& title, const QString& why = {}, const QString& details = {});
    void showError(const QString& what, const Error& error);
    void openDetails();
    void focusDetails(); // for the keyboard: they can be scrolled and copied
    // Shown at the right, in a narrow place below; removed by the next show().
    void addAction(const QString& text, std::function<void()> act);
    void dismiss();
    void enter(); // the keyboard goes to what can be done

    Tone tone() const { return m_tone; }
    QString title() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void toggleDetails();

    Tone m_tone = Tone::Info;
    QLabel* m_icon = nullptr;
    QLabel* m_title = nullptr;
    QLabel* m_why = nullptr;
    QBoxLayout* m_body = nullptr;
    QHBoxLayout* m_actions = nullptr;
    QToolButton* m_more = nullptr;
    QToolButton* m_close = nullptr;
    QPlainTextEdit* m_details = nullptr;
};

} // namespace gb::ui
