// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// What the page asks the daemon to do with a model.

#include <widgets/controls/banner.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/progressrow.h>
#include <widgets/itemmodels/fields.h>
#include <widgets/itemmodels/livestate.h>

#include "modelsitemmodel.h"
#include "modelspage.h"
#include "modeluse.h"
#include "text.h"

namespace gb::ui {
namespace {

QString pathsText(const Json& result, const char* key)
{
    QStringList paths;
    for (const auto& path : result.value(key, Json::array()))
        if (path.is_string())
            paths += QString::fromStdString(path.get<std::string>());
    return paths.join(QLatin1Char('\n'));
}

} // namespace

void ModelsPage::send(const char* method, const Json& params, const QString& whatFailed)
{
    m_client.call(this, method, params, [this, whatFailed](Result<api::Answer> answer) {
        if (!answer)
            m_banner->showError(whatFailed, answer.error());
    });
}

void ModelsPage::pause(const ModelRow& row)
{
    send("models.pause", {{"download", row.download.toStdString()}}, ModelsText::tr("It was not paused"));
}

void ModelsPage::resume(const ModelRow& row)
{
    send("models.resume", {{"download", row.download.toStdString()}}, ModelsText::tr("It was not resumed"));
}

void ModelsPage::cancel(const ModelRow& row)
{
    send("models.forget", {{"download", row.download.toStdString()}}, ModelsText::tr("It was not cancelled"));
}

void ModelsPage::verify(const ModelRow& row)
{
    verifyModel(row.spoken(), false);
}

void ModelsPage::verifyModel(const QString& model, bool repair)
{
    m_verify->setEnabled(false);
    m_banner->dismiss();
    const Json params = {{"model", model.toStdString()}, {"repair", repair}};
    m_client.call(this, "models.verify", params, [this, model, repair](Result<api::Answer> answer) {
        if (!answer) {
            m_verify->setEnabled(true);
            m_banner->showError(ModelsText::tr("%1 could not be verified").arg(model), answer.error());
            return;
        }
        m_verifyJob = stringOr(answer->body, "job");
        ProgressSpec progress;
        progress.title = ModelsText::tr("Verifying %1").arg(model);
        progress.cancellable = true;
        m_verifying->setProgress(progress);
        m_verifying->show();
        whenJobEnds(m_client, this, m_verifyJob, [this, model, repair](Result<Json> job) {
            m_verifyJob.clear();
            m_verifying->hide();
            m_verify->setEnabled(true);
            if (!job)
                m_banner->showError(ModelsText::tr("%1 could not be verified").arg(model), job.error());
            else
                showVerified(model, *job, repair);
        });
    });
}

void ModelsPage::showVerified(const QString& model, const Json& job, bool repaired)
{
    if (stringOr(job, "state") != "done") {
        if (stringOr(job, "state") != "cancelled")
            m_banner->showError(ModelsText::tr("%1 could not be verified").arg(model),
                Error::fromJson(objectOr(job, "error")));
        return;
    }
    const auto result = objectOr(job, "result");
    const auto wrong = pathsText(result, "bad");
    const auto missing = pathsText(result, "missing");
    if (wrong.isEmpty() && missing.isEmpty()) {
        m_banner->show(Tone::Success, ModelsText::tr("%1 is whole").arg(model),
            ModelsText::tr("What the hub says: %1 files, %2.")
                .arg(integerOr(result, "files"))
                .arg(bytesText(numberOr(result, "bytes"))));
        return;
    }
    if (repaired) {
        // What was bad is deleted now: the download brings it anew.
        send("models.get", {{"model", model.toStdString()}}, ModelsText::tr("It was not fetched again"));
        refresh();
        return;
    }
    m_banner->show(Tone::Error, ModelsText::tr("%1 is damaged").arg(model),
        wrong.isEmpty() ? ModelsText::tr("Files are missing.")
                        : ModelsText::tr("Files are not what the hub says they are."),
        wrong + (missing.isEmpty() ? QString() : QLatin1Char('\n') + missing));
    m_banner->addAction(ModelsText::tr("Fetch them again"), [this, model] { verifyModel(model, true); });
}

void ModelsPage::askOnce(
    const QString& title, const QString& why, const QString& yes, std::function<void()> act)
{
    m_banner->show(Tone::Warning, title, why);
    m_banner->addAction(yes, [this, act = std::move(act)] {
        // Showing something else in the banner takes this button, and with it `act`, away.
        const auto now = act;
        m_banner->dismiss();
        now();
    });
}

// To stand behind a sentence.
QString ModelsPage::usersText(const QString& repo) const
{
    const auto users = m_use->users(repo);
    return users.isEmpty() ? QString()
                           : QLatin1Char(' ')
            + ModelsText::tr("Sandboxes use it now: %1.").arg(users.join(QStringLiteral(", ")));
}

void ModelsPage::askToDelete(const ModelRow& row)
{
    const auto why =
        ModelsText::tr(
            "%1 become free, all revisions go. Other programs that use the hub's cache lose it too.")
            .arg(bytesText(static_cast<double>(row.onDisk)))
        + usersText(row.repo);
    askOnce(ModelsText::tr("Delete %1 from this disk?").arg(row.repo), why, ModelsText::tr("Delete"),
        [this, repo = row.repo, isUsed = !m_use->users(row.repo).isEmpty()] {
            // A download on the list would only say that it was ready once.
            for (int i = 0; i < m_model->rowCount(); ++i) {
                const auto* listed = m_model->rowAt(m_model->index(i, 0));
                if (listed->repo == repo && !listed->download.isEmpty())
                    cancel(*listed);
            }
            removeModel(repo, {{"model", repo.toStdString()}, {"all", true}, {"force", isUsed}});
        });
}

void ModelsPage::removeModel(const QString& repo, const Json& params)
{
    sendRemoval(params, [this, repo](std::int64_t freed) {
        m_banner->show(Tone::Success, ModelsText::tr("Deleted %1").arg(repo),
            ModelsText::tr("%1 were freed.").arg(bytesText(static_cast<double>(freed))));
    });
}

void ModelsPage::removeLoose(const QStringList& repos)
{
    const auto total = std::make_shared<std::int64_t>(0);
    for (const auto& repo : repos)
        sendRemoval({{"model", repo.toStdString()}, {"loose", true}}, [this, total](std::int64_t freed) {
            *total += freed;
            m_banner->show(Tone::Success, ModelsText::tr("Deleted what nothing uses"),
                ModelsText::tr("%1 were freed.").arg(bytesText(static_cast<double>(*total))));
        });
}

void ModelsPage::sendRemoval(const Json& params, std::function<void(std::int64_t)> freed)
{
    m_client.call(this, "models.rm", params, [this, freed = std::move(freed)](Result<api::Answer> answer) {
        if (!answer)
            m_banner->showError(ModelsText::tr("It was not deleted"), answer.error());
        else
            freed(integerOr(answer->body, "freed"));
        refresh();
    });
}

} // namespace gb::ui
