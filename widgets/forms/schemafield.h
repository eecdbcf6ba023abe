// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include <QWidget>

#include "schema.h"

namespace gb::ui {

// One value of a form. It shows any value it is given: what does not fit its own controls is shown as JSON,
// so nothing is lost.
class SchemaField : public QWidget
{
    Q_OBJECT

public:
    using QWidget::QWidget;

    virtual Json value() const = 0;
    virtual void setValue(const Json& value) = 0;
    // Empty when what is typed can be sent.
    virtual QString problem() const { return {}; }
    // The keyboard goes to this entry and, where entries have columns, to this one; index -1: to the field.
    virtual void enter(int /*index*/, const QString& /*key*/) { setFocus(Qt::ShortcutFocusReason); }

Q_SIGNALS:
    void edited();
};

// The root is kept by the form and lives as long as its fields. A field is made inside what will hold it: a
// finished tree that moves into another one is styled anew, widget by widget.
SchemaField* makeSchemaField(
    const Json& schema, const std::shared_ptr<const SchemaRoot>& root, int depth, QWidget* parent);

} // namespace gb::ui
