// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPointer>
#include <QSaveFile>
#include <QTableView>
#include <QThreadPool>

#include <widgets/controls/errortext.h>

#include "resultexport.h"
#include "resultview.h"
#include "tablemodel.h"
#include "tensorview.h"
#include "text.h"
#include "vectorview.h"

// A result as a file.
namespace gb::ui {
namespace {

using SaveDone = std::function<void(const QString& problem)>;

QString filterOf(const QString& ending)
{
    const QMap<QString, QString> words{{QStringLiteral("json"), ViewersText::tr("JSON")},
        {QStringLiteral("csv"), ViewersText::tr("Table")},
        {QStringLiteral("npy"), ViewersText::tr("numpy array")},
        {QStringLiteral("safetensors"), ViewersText::tr("safetensors")},
        {QStringLiteral("png"), ViewersText::tr("Picture")},
        {QStringLiteral("svg"), ViewersText::tr("Drawing")}};
    return QStringLiteral("%1 (*.%2)").arg(words.value(ending), ending);
}

// Away from the window's thread; the file appears when it is whole.
void writeAside(QObject* context, const QString& path, const QByteArray& bytes, SaveDone done)
{
    QThreadPool::globalInstance()->start([guard = QPointer(context), path, bytes, done = std::move(done)] {
        QSaveFile file(path);
        const bool written =
            file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
        const QString problem = written ? QString() : ViewersText::tr("%1: %2").arg(path, file.errorString());
        QMetaObject::invokeMethod(
            guard.data(), [done, problem] { done(problem); }, Qt::QueuedConnection);
    });
}

} // namespace

QStringList ResultView::endings() const
{
    const QString json = QStringLiteral("json");
    const QString csv = QStringLiteral("csv");
    const QString npy = QStringLiteral("npy");
    const QStringList pictures{QStringLiteral("png"), QStringLiteral("svg")};
    switch (m_form) {
    case Form::Table:
        return {csv, json};
    case Form::Vector:
    case Form::Matrix:
        return QStringList{csv, npy} + pictures + QStringList{json};
    case Form::Tensor:
        return QStringList{npy, QStringLiteral("safetensors")} + pictures + QStringList{json};
    case Form::Tokens:
    case Form::Image:
        return pictures + QStringList{json};
    case Form::Tree:
    case Form::Text:
    case Form::Raw:
        break;
    }
    return {json};
}

Result<QByteArray> ResultView::contents(const QString& ending)
{
    auto* shown = page(m_form);
    if (ending == QLatin1String("png"))
        return pngOf(*shown);
    if (ending == QLatin1String("svg"))
        return svgOf(*shown);
    const bool csv = ending == QLatin1String("csv");
    if (csv && m_form == Form::Table)
        return static_cast<TableModel*>(static_cast<QTableView*>(shown)->model())->asCsv().toUtf8();
    if (m_form == Form::Vector && ending != QLatin1String("json")) {
        const auto& values = static_cast<VectorView*>(shown)->values();
        return csv ? csvOf(values) : npyOf(values);
    }
    if (m_form == Form::Matrix && ending != QLatin1String("json")) {
        const auto& matrix = static_cast<MatrixView*>(shown)->matrix();
        return csv ? csvOf(matrix) : npyOf(matrix);
    }
    return QByteArray::fromStdString(*m_text);
}

void ResultView::saveTensor(const QString& path, const QString& ending, SaveDone done)
{
    static_cast<TensorView*>(page(Form::Tensor))
        ->fetchWhole([guard = QPointer(this), path, ending, done = std::move(done)](
                         Result<api::Answer> answer) {
            if (!guard)
                return;
            if (!answer)
                return done(errorSentence(answer.error()));
            std::vector<std::int64_t> shape;
            for (const Json& size : answer->body.value("shape", Json::array()))
                shape.push_back(size.is_number_integer() ? size.get<std::int64_t>() : 0);
            const auto bytes = QByteArray::fromStdString(answer->attachment);
            const auto dtype = stringOr(answer->body, "dtype");
            const auto file = ending == QLatin1String("npy") ? npyFile(dtype, shape, bytes)
                                                             : safetensorsFile(dtype, shape, bytes);
            if (!file)
                return done(
                    ViewersText::tr("This file format has no type %1.").arg(QString::fromStdString(dtype)));
            writeAside(guard, path, *file, done);
        });
}

void ResultView::saveAs(const QString& path, SaveDone done)
{
    if (!m_text)
        return;
    const auto suffix = QFileInfo(path).suffix().toLower();
    const auto ending = endings().contains(suffix) ? suffix : endings().constFirst();
    if (m_form == Form::Tensor && (ending == QLatin1String("npy") || ending == QLatin1String("safetensors")))
        return saveTensor(path, ending, std::move(done));
    const auto bytes = contents(ending);
    if (bytes)
        writeAside(this, path, *bytes, std::move(done));
}

void ResultView::save()
{
    if (!m_text)
        return;
    QStringList filters;
    for (const auto& ending : endings())
        filters += filterOf(ending);
    QString chosen = filters.constFirst();
    auto path = QFileDialog::getSaveFileName(this, ViewersText::tr("Save the result"),
        QStringLiteral("result.") + endings().constFirst(), filters.join(QStringLiteral(";;")), &chosen);
    if (path.isEmpty())
        return;
    if (QFileInfo(path).suffix().isEmpty())
        path += QLatin1Char('.') + endings().value(filters.indexOf(chosen));
    saveAs(path, [this](const QString& problem) {
        if (!problem.isEmpty())
            QMessageBox::warning(this, ViewersText::tr("The result was not saved"), problem);
    });
}

} // namespace gb::ui
