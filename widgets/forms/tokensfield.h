// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QStringList>

#include "schemafield.h"

class QLineEdit;
class QPushButton;

namespace gb::ui {

class FlowLayout;

// A list of short texts as tokens with a line to add more. Enter, a comma or leaving the line adds what is
// typed; choosing a token takes it back into the line, Backspace in an empty line the last one. The arrows
// lead from the line to the tokens.
class TokensField final : public SchemaField
{
    Q_OBJECT

public:
    enum class Kind { Texts, Numbers };
    using Splitter = std::function<QStringList(const QString& pasted)>;

    explicit TokensField(const QString& placeholder, Kind kind = Kind::Texts, QWidget* parent = nullptr);

    // What pasted or dropped text becomes; without one it is cut at commas and line ends.
    void setSplitter(Splitter splitter) { m_split = std::move(splitter); }
    void setProposals(const QStringList& proposals);
    // A word behind the token ("found"), in the tone of what it means.
    void setMark(std::function<QString(const QString& token, bool* good)> mark);
    void setWrong(const QList<int>& indexes);
    void remark();

    Json value() const override;
    void setValue(const Json& value) override;
    void enter(int index, const QString& key) override;
    void add(const QStringList& tokens);
    QStringList tokens() const { return m_tokens; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool takeTyped();
    bool paste(const QString& text);
    void edit(int index);
    void rebuild();
    void decorate(QPushButton* chip, int index);

    Kind m_kind;
    QString m_placeholder;
    Splitter m_split;
    std::function<QString(const QString&, bool*)> m_mark;
    QStringList m_tokens;
    qsizetype m_at = -1; // where the token that is being edited goes back to
    QList<int> m_wrong;
    QList<QPushButton*> m_chips;
    FlowLayout* m_flow = nullptr;
    QLineEdit* m_line = nullptr;
};

} // namespace gb::ui
