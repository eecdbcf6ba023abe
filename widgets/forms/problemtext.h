// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include <QString>

#include <backend/domain/sandboxspec.h>

class QLabel;

namespace gb::ui {

// What a form calls a field ("models[1].name"); empty where it has no such field.
using FieldTitles = std::function<QString(const QString& path)>;

// "models[1].name" → {"models", 1, "name"}; -1 where there is no index.
struct FieldPath
{
    std::string root;
    int index = -1;
    QString rest;
};
FieldPath fieldPath(const std::string& path);

// Begins large and ends with a stop.
QString asSentence(QString clause);

// A problem as sentences of a form: with the form's titles instead of the file's keys. The subject is put in
// front where the message says only what is wrong with it.
QString problemSentences(const SpecProblem& problem, const QString& subject, const FieldTitles& titles);

// The line below a field that says what is wrong with it, as wide as the field and not as its longest word.
QLabel* makeComplaint();
void showComplaint(QLabel* complaint, const QString& text);

} // namespace gb::ui
