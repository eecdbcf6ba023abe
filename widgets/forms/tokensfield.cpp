// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "tokensfield.h"

#include <QApplication>
#include <QClipboard>
#include <QCompleter>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStringListModel>

#include <widgets/controls/icons.h>
#include <widgets/controls/theme.h>
#include <widgets/itemmodels/fields.h>

#include "flowlayout.h"
#include "text.h"

namespace gb::ui {
namespace {

QStringList splitPlain(const QString& text)
{
    static const QRegularExpression between(QStringLiteral("[,\\n\\r]+"));
    QStringList parts;
    for (const auto& part : text.split(between, Qt::SkipEmptyParts))
        if (!part.trimmed().isEmpty())
            parts += part.trimmed();
    return parts;
}

} // namespace

TokensField::TokensField(const QString& placeholder, Kind kind, QWidget* parent)
    : SchemaField(parent), m_kind(kind), m_placeholder(placeholder), m_split(splitPlain),
      m_flow(new FlowLayout(this)), m_line(new QLineEdit)
{
    m_line->setPlaceholderText(placeholder);
    m_line->setMinimumWidth(200);
    m_line->installEventFilter(this);
    m_flow->insertWidget(0, m_line);
    setFocusProxy(m_line);
    connect(m_line, &QLineEdit::textEdited, this, [this](const QString& text) {
        // After a version, or in extras, a comma belongs to the token.
        static const QRegularExpression goesOn(QStringLiteral(R"([=<>~!\[@;])"));
        if (text.endsWith(QLatin1Char(',')) && !text.contains(goesOn))
            takeTyped();
    });
    connect(m_line, &QLineEdit::editingFinished, this, [this] { takeTyped(); });
}

void TokensField::setProposals(const QStringList& proposals)
{
    auto* completer = new QCompleter(proposals, m_line);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    m_line->setCompleter(completer);
}

void TokensField::setMark(std::function<QString(const QString&, bool*)> mark)
{
    m_mark = std::move(mark);
    remark();
}

void TokensField::remark()
{
    for (int i = 0; i < m_chips.size(); ++i)
        decorate(m_chips[i], i);
}

void TokensField::setWrong(const QList<int>& indexes)
{
    if (m_wrong == indexes)
        return;
    m_wrong = indexes;
    remark();
}

Json TokensField::value() const
{
    Json list = Json::array();
    for (const auto& token : m_tokens) {
        bool number = false;
        const auto port = token.toLongLong(&number);
        if (m_kind == Kind::Numbers && number)
            list.push_back(port);
        else
            list.push_back(token.toStdString());
    }
    return list;
}

void TokensField::setValue(const Json& wanted)
{
    if (wanted == value())
        return;
    m_tokens.clear();
    if (wanted.is_array())
        for (const auto& item : wanted)
            m_tokens +=
                item.is_string() ? QString::fromStdString(item.get<std::string>()) : compactJson(item);
    rebuild();
}

void TokensField::enter(int index, const QString& /*key*/)
{
    if (index >= 0 && index < m_chips.size())
        m_chips[index]->setFocus(Qt::ShortcutFocusReason);
    else
        setFocus(Qt::ShortcutFocusReason);
}

void TokensField::add(const QStringList& tokens)
{
    const auto before = m_tokens.size();
    auto at = m_at >= 0 && m_at <= before ? m_at : before;
    m_at = -1;
    for (const auto& token : tokens)
        if (!m_tokens.contains(token))
            m_tokens.insert(at++, token);
    if (m_tokens.size() == before)
        return;
    rebuild();
    Q_EMIT edited();
}

bool TokensField::takeTyped()
{
    auto text = m_line->text().trimmed();
    while (text.endsWith(QLatin1Char(',')))
        text.chop(1);
    if (text.isEmpty())
        return false;
    m_line->clear();
    add(m_split(text));
    return true;
}

bool TokensField::paste(const QString& text)
{
    if (!text.contains(QLatin1Char('\n')) && !text.contains(QLatin1Char(','))
        && !text.trimmed().contains(QLatin1Char(' ')))
        return false;
    add(m_split(text));
    return true;
}

void TokensField::edit(int index)
{
    takeTyped();
    const auto token = m_tokens.takeAt(index);
    m_at = index;
    rebuild();
    m_line->setText(token);
    m_line->setFocus();
    m_line->selectAll();
    Q_EMIT edited();
}

void TokensField::rebuild()
{
    while (m_chips.size() > m_tokens.size()) {
        auto* chip = m_chips.takeLast();
        delete m_flow->takeAt(static_cast<int>(m_chips.size()));
        chip->hide();
        chip->deleteLater();
    }
    while (m_chips.size() < m_tokens.size()) {
        auto* chip = new QPushButton(this);
        chip->setProperty("gbKind", QStringLiteral("chip"));
        chip->setFocusPolicy(Qt::ClickFocus); // the arrows lead here: Tab goes to the next field
        const auto index = static_cast<int>(m_chips.size());
        connect(chip, &QPushButton::clicked, this, [this, index] { edit(index); });
        m_flow->insertWidget(index, chip);
        chip->installEventFilter(this);
        chip->show();
        m_chips += chip;
    }
    m_line->setPlaceholderText(m_tokens.isEmpty() ? m_placeholder : FormsText::tr("one more"));
    remark();
    m_flow->invalidate();
    updateGeometry();
}

void TokensField::decorate(QPushButton* chip, int index)
{
    const auto token = m_tokens.value(index);
    constexpr int widestToken = 360;
    auto text = chip->fontMetrics().elidedText(token, Qt::ElideMiddle, widestToken);
    const bool wrong = m_wrong.contains(index);
    bool good = true;
    const auto mark = m_mark ? m_mark(token, &good) : QString();
    if (!mark.isEmpty())
        text += QStringLiteral(" · ") + mark;
    chip->setText(text.replace(QLatin1Char('&'), QLatin1String("&&")));
    chip->setIcon(wrong ? icon(QStringLiteral("error"), gb::ui::tokens().error)
            : good      ? QIcon()
                        : icon(QStringLiteral("warning"), gb::ui::tokens().warning));
    chip->setToolTip(FormsText::tr("Edit %1 (Delete removes it)").arg(token).toHtmlEscaped());
    chip->setAccessibleName(FormsText::tr("Edit %1 (Delete removes it)").arg(token));
}

bool TokensField::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress)
        return SchemaField::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const int last = static_cast<int>(m_chips.size()) - 1;
    if (auto* chip = qobject_cast<QPushButton*>(watched)) {
        if (key->key() == Qt::Key_Left || key->key() == Qt::Key_Right) {
            const auto at = static_cast<int>(m_chips.indexOf(chip)) + (key->key() == Qt::Key_Left ? -1 : 1);
            QWidget* next = at > last ? static_cast<QWidget*>(m_line) : m_chips[qMax(0, at)];
            next->setFocus(Qt::OtherFocusReason);
            return true;
        }
        if (key->key() != Qt::Key_Delete && key->key() != Qt::Key_Backspace)
            return false;
        m_tokens.removeAt(m_chips.indexOf(chip));
        rebuild();
        m_line->setFocus();
        Q_EMIT edited();
        return true;
    }
    if (key->key() == Qt::Key_Left && m_line->cursorPosition() == 0 && last >= 0) {
        m_chips[last]->setFocus(Qt::OtherFocusReason);
        return true;
    }
    if (key->matches(QKeySequence::Paste))
        return paste(QApplication::clipboard()->text());
    if (key->key() == Qt::Key_Backspace && m_line->text().isEmpty() && !m_tokens.isEmpty()) {
        edit(static_cast<int>(m_tokens.size()) - 1);
        return true;
    }
    // Enter adds the token and must not press a button of a dialog behind it.
    if ((key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) && key->modifiers() == Qt::NoModifier)
        return takeTyped();
    return false;
}

} // namespace gb::ui
