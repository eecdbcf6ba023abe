// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include "argumentform.h"

#include <QPlainTextEdit>
#include <QScrollArea>
#include <QTabWidget>
#include <QVBoxLayout>

#include <widgets/controls/frames.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/theme.h>

#include "nestedfields.h"
#include "text.h"

namespace gb::ui {

ArgumentForm::ArgumentForm(QWidget* parent) : QWidget(parent), m_root(std::make_shared<SchemaRoot>())
{
    auto* content = new QWidget;
    m_column = new QVBoxLayout(content);
    m_column->setContentsMargins(0, space::m, space::m, 0);
    m_none = makeLabel(FormsText::tr("This function takes no arguments."), TextRole::Secondary);
    m_column->addWidget(m_none);
    m_column->addStretch(1);
    m_json = new QPlainTextEdit;
    m_json->setFont(Theme::instance().monospace());
    m_json->setAccessibleName(FormsText::tr("Arguments as JSON"));
    m_json->setTabChangesFocus(true);
    m_tabs = new QTabWidget;
    m_tabs->addTab(makeScroll(content), FormsText::tr("Form"));
    m_tabs->addTab(m_json, FormsText::tr("JSON"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_tabs);
    connect(m_json, &QPlainTextEdit::textChanged, this, [this] {
        m_jsonIsNewer = true;
        Q_EMIT edited();
    });
    connect(m_tabs, &QTabWidget::currentChanged, this, [this](int tab) {
        if (tab == 1 && !m_jsonIsNewer)
            toJson();
        // What is not JSON yet stays in front, so that nothing typed is lost.
        else if (tab == 0 && m_jsonIsNewer && !toForm())
            m_tabs->setCurrentIndex(1);
    });
}

void ArgumentForm::setSchema(const Json& inputSchema)
{
    m_root = std::make_shared<SchemaRoot>(SchemaRoot{inputSchema});
    if (m_fields) {
        m_fields->hide();
        m_fields->deleteLater();
    }
    m_fields = new ObjectField(inputSchema, m_root, 0, m_column->parentWidget());
    m_column->insertWidget(0, m_fields);
    m_none->setVisible(m_fields->rows().isEmpty());
    connect(m_fields, &SchemaField::edited, this, [this] {
        m_jsonIsNewer = false;
        Q_EMIT edited();
    });
    toJson();
    setFocusProxy(m_fields);
}

void ArgumentForm::toJson()
{
    const QSignalBlocker quiet(m_json);
    const auto value = m_fields ? m_fields->value() : Json::object();
    m_json->setPlainText(QString::fromStdString(value.dump(2, ' ', false, Json::error_handler_t::replace)));
    m_jsonIsNewer = false;
}

bool ArgumentForm::toForm()
{
    const auto value = parseJson(m_json->toPlainText().toStdString());
    if (!value || !value->is_object() || !m_fields)
        return false;
    m_fields->setValue(*value);
    m_jsonIsNewer = false;
    return true;
}

Result<Json> ArgumentForm::arguments()
{
    if (m_jsonIsNewer) {
        auto value = parseJson(m_json->toPlainText().toStdString());
        if (!value)
            return fail(value.error());
        if (!value->is_object())
            return fail("form.not_an_object", "The arguments must be a JSON object.");
        return *value;
    }
    if (!m_fields)
        return Json::object();
    if (const auto problem = m_fields->problem(); !problem.isEmpty())
        return fail("form.problem", problem.toStdString());
    return m_fields->value();
}

void ArgumentForm::setArguments(const Json& kwargs)
{
    if (m_fields)
        m_fields->setValue(kwargs);
    toJson();
}

void ArgumentForm::showJson(bool json)
{
    m_tabs->setCurrentIndex(json ? 1 : 0);
}

} // namespace gb::ui
