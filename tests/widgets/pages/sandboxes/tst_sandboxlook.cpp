// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <tests/backend/domain/specfixtures.h>
#include <tests/support/fakedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/sandboxes/planpanel.h>
#include <widgets/pages/sandboxes/sandboxespage.h>
#include <widgets/pages/sandboxes/sandboxform.h>
#include <widgets/pages/sandboxes/sandboxlist.h>

using namespace gb;
using namespace gb::ui;

namespace {

Json onlyThisMachine()
{
    return Json::parse(R"({"providers": [{"id": "local", "title": "This machine", "available": true,
        "gpus": [], "fields": {}, "interpreters": [{"path": "/usr/bin/python3", "version": "3.11.2"},
        {"path": "/opt/python3.10", "version": "3.10.4"}], "python_versions": ["3.9", "3.11", "3.13"],
        "models": []}]})");
}

Json noProblems()
{
    return {{"steps", Json::array()}, {"problems", Json::array()}, {"reaches", Json::array()},
        {"needs_trust", false}};
}

Json filled()
{
    return Json::parse(R"({"name": "probing run", "memory": 8589934592, "cpu": 4, "timeout": 7200,
        "idle_timeout": 1800, "execution_mode": "notebook", "python_packages": ["numpy>=1.26", "torch"],
        "system_packages": ["git", "ffmpeg"], "secrets": ["HF_TOKEN"], "env": {"OMP_NUM_THREADS": "4"},
        "tags": {"team": "probing"}, "models": [{"name": "org/base"},
        {"name": "org/adapter", "var_name": "adapter", "is_peft": true, "base_model": "org/base"}],
        "repos": [{"url": "org/repo", "install": "pip install -e ."}],
        "local_files": [["prompts.jsonl", "/workspace/prompts.jsonl"]],
        "local_dirs": [{"local": "data", "inside": "/workspace/data", "mode": "read-only"}],
        "network": ["data.example.org"], "encrypted_ports": [8000], "rpc_port": 7000})");
}

Json wrong()
{
    return Json::parse(R"({"name": "/etc", "gpu_count": 3, "memory": "8 Gib or so", "cpu": "many",
        "python_version": "2.7", "interpreter": "python3", "python_packages": ["numpy", "not a package!"],
        "system_packages": ["Git"], "secrets": ["TOKEN=hunter2"], "env": {"1A": "x"},
        "models": [{"name": ""}, {"name": "org/adapter", "is_peft": true}], "repos": [{"url": "what is this"}],
        "local_dirs": [{"local": "", "inside": "relative", "mode": "writable"}],
        "network": ["data.example.org", "https://x"], "encrypted_ports": [70000], "rpc_port": 99999,
        "timeout": "soon", "idle_timeout": 9000, "rpc_timeout": 9999999})");
}

Json veryLong()
{
    const std::string word(60, 'w');
    std::string words;
    for (int i = 0; i < 12; ++i)
        words += word.substr(0, 12) + " ";
    return {{"name", word}, {"python_packages", {word + ">=1." + word, word}}, {"secrets", {word}},
        {"env", {{word, words}}}, {"models", {{{"name", word + "/" + word}, {"base_model", word}}}},
        {"repos", {{{"url", "https://example.org/" + word + "/" + word}, {"install", words}}}},
        {"local_dirs", {{{"local", "/data/" + word + "/" + word}, {"inside", "/workspace/" + word}}}},
        {"network", {word + ".example.org"}}};
}

// What cannot be read in full, one of them; empty when all can.
QString clippedIn(const QWidget* parent)
{
    for (const auto* widget : parent->findChildren<QWidget*>()) {
        if (!widget->isVisible() || widget->visibleRegion().isEmpty())
            continue;
        QString text = widget->accessibleName();
        bool fits = widget->visibleRegion().boundingRect().width() == widget->width();
        if (const auto* label = qobject_cast<const QLabel*>(widget)) {
            text = label->text();
            if (!qobject_cast<const ElidedLabel*>(label) && !text.isEmpty())
                fits &= label->wordWrap() ? label->heightForWidth(label->width()) <= label->height()
                                          : label->sizeHint().width() <= label->width();
        } else if (const auto* button = qobject_cast<const QPushButton*>(widget)) {
            text = button->text();
            fits &= button->sizeHint().width() <= button->width();
        } else if (const auto* line = qobject_cast<const QLineEdit*>(widget)) {
            text = line->text().isEmpty() ? line->placeholderText() : QString();
            fits &= line->fontMetrics().horizontalAdvance(text) + 22 <= line->width();
        }
        if (!fits)
            return text;
    }
    return {};
}

} // namespace

// What a person sees of the form: that everything can be read, and reads well.
class SandboxLookTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void complaintsSpeakTheFormsLanguage();
    void complaintsNameTheFix_data();
    void complaintsNameTheFix();
    void thePlanSpeaksTheFormsLanguage();
    void whatIsWrongIsInTheWayOfStart();
    void onlyWhatIsSetSaysWhereItComesFrom();
    void pythonsThatNobodyCanMakeSayWhy();
    void timesAreReadAndShown();
    void theWheelOnlyScrolls();
    void theOutlineKeepsWhatWasAskedFor();
    void nothingStandsEmptyAboveTheSections();
    void notebookPackagesAreForNotebooks();
    void everySectionCanBeRead_data();
    void everySectionCanBeRead();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
    DraftForm* form() const { return m_page->form()->form(); }
    QPushButton* button(const QString& text) const
    {
        for (auto* each : m_page->findChildren<QPushButton*>())
            if (each->text() == text && each->isVisible())
                return each;
        return nullptr;
    }

    QTemporaryDir m_folder;
    std::unique_ptr<test::FakeDaemon> m_daemon;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<SandboxesPage> m_page;
};

void SandboxLookTest::initTestCase()
{
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    QFile::setPermissions(m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    const fs::path data(m_folder.path().toStdString());
    m_daemon = std::make_unique<test::FakeDaemon>(data);
    m_daemon->on("sandboxes.capabilities", onlyThisMachine());
    m_daemon->on("sandboxes.plan", noProblems());
    m_daemon->on("secrets.list", Json{{"secrets", Json::array()}});
    m_client = std::make_unique<api::Client>(api::Client::Options{data, "window", false, true, {}});
    m_client->open();
    QVERIFY(waitFor([this] { return m_client->state() == api::Client::State::Connected; }));
}

void SandboxLookTest::init()
{
    m_page = std::make_unique<SandboxesPage>(*m_client);
    m_page->resize(1196, 690); // what a window of 1280×800 has for it
    m_page->show();
    QVERIFY(QTest::qWaitForWindowActive(m_page.get()));
    QVERIFY(waitFor([this] { return m_page->settled(); }));
}

void SandboxLookTest::cleanup()
{
    m_page.reset();
}

void SandboxLookTest::complaintsSpeakTheFormsLanguage()
{
    static const QRegularExpression key(QStringLiteral("[a-z]+_[a-z]+|`|\""));
    int looked = 0;
    for (const auto& bad : test::badSpecs) {
        const auto json = Json::parse(bad.json);
        if (!json.is_object())
            continue;
        m_page->draft().set(SandboxSpec().toJson());
        m_page->draft().set(json);
        for (const auto& field : sandboxSpecFields()) {
            const auto text = form()->row(field.name)->problemText();
            if (text.isEmpty())
                continue;
            ++looked;
            // What was typed may look as it likes.
            auto ours = text;
            ours.remove(QRegularExpression(QStringLiteral("“[^”]*”")));
            const auto said = QStringLiteral("%1: %2").arg(QLatin1String(bad.json), text);
            QVERIFY2(!key.match(ours).hasMatch(), qPrintable(said));
            QVERIFY2(!text.front().isLower(), qPrintable(said));
            QVERIFY2(text.endsWith(QLatin1Char('.')), qPrintable(said));
            if (qEnvironmentVariableIsSet("GB_PICTURES"))
                qInfo("%s\n    %s", bad.json, qPrintable(text));
        }
    }
    QVERIFY(looked > 40);
}

void SandboxLookTest::complaintsNameTheFix_data()
{
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<QByteArray>("row");
    QTest::addColumn<QString>("sentences");
    const auto row = [](const char* name, const char* fields, const char* at, const char* sentences) {
        QTest::newRow(name) << QByteArray(fields) << QByteArray(at) << QString::fromUtf8(sentences);
    };
    row("time", R"({"timeout": "soon"})", "timeout",
        "“soon” is not a time. Write one like 90 s, 20 min or 2 h.");
    row("long", R"({"timeout": 3456000})", "timeout",
        "40 d (3456000 seconds) is too long. Give at most 30 d (2592000 seconds).");
    row("idle", R"({"timeout": 3600, "idle_timeout": 9000})", "idle_timeout",
        "“Ends when idle for” is longer than “Ends after” and would never act. "
        "Give at most 1 h (3600 seconds).");
    row("gpus", R"({"gpu_count": 3})", "gpu_count",
        "“Number of GPUs” is set without a GPU type. Fill in “GPU type”, or remove “Number of GPUs”.");
    row("base", R"({"models": [{"name": "org/a", "is_peft": true}]})", "models",
        "“Base model” is missing for the adapter “org/a”. Name the model the adapter was made for.");
    row("ports", R"({"rpc_port": 8080, "debug_port": 8080})", "debug_port",
        "8080 is also “Port of the interface”. Choose another port, or leave one of them out: it is then "
        "assigned.");
    row("places", R"({"local_dirs": [["a", "/w"], ["b", "/w"]]})", "local_dirs",
        "/w is also filled by “Folders, entry 1”. Choose another place.");
    row("number", R"({"cpu": "many"})", "cpu", "“many” is not a number.");
    row("nothing yet", R"({"models": [{"name": ""}]})", "models",
        "The name of the model is missing. Write it like “google/gemma-2-9b”; a folder on this machine goes "
        "into “Folder on this machine instead”.");
}

void SandboxLookTest::complaintsNameTheFix()
{
    QFETCH(const QByteArray, fields);
    QFETCH(const QByteArray, row);
    QFETCH(const QString, sentences);
    m_page->draft().set(Json::parse(fields.toStdString()));
    QCOMPARE(form()->row(row.toStdString())->problemText(), sentences);
}

void SandboxLookTest::thePlanSpeaksTheFormsLanguage()
{
    m_daemon->on("sandboxes.plan",
        Json{{"steps", Json::array()}, {"reaches", Json::array()}, {"needs_trust", false},
            {"problems",
                {{{"field", "python_version"},
                    {"message",
                        "python_version: no Debian image has Python 3.10; choose 3.11, or `interpreter`"},
                    {"fix", "choose 3.11, or `interpreter`"}, {"severity", "error"}}}}});
    m_page->planPanel()->plan();
    const auto* banner = m_page->planPanel()->findChild<Banner*>();
    QVERIFY(waitFor([banner] { return banner->isVisible(); }));
    QCOMPARE(banner->title(), QStringLiteral("It cannot start like this"));
    QCOMPARE(banner->accessibleName(),
        QString::fromUtf8("It cannot start like this Python version: No Debian image has Python 3.10. "
                          "Choose 3.11, or “Python from”."));
    // It cannot be started, says so beside Start, and leads to where it can be mended.
    QVERIFY(!m_page->primaryAction()->isEnabled());
    QVERIFY(!m_page->primaryAction()->toolTip().isEmpty());
    auto* problems = button(QStringLiteral("1 problem(s)"));
    QVERIFY(problems);
    problems->click();
    auto* row = form()->row("python_version");
    QVERIFY(row->isAncestorOf(QApplication::focusWidget()));
    QCOMPARE(row->problemText(),
        QString::fromUtf8("No Debian image has Python 3.10. Choose 3.11, or “Python from”."));
    test::picture(*m_page, QStringLiteral("look-noplan"));
    m_page->setFocus();
    m_page->showObstacle();
    QVERIFY(row->isAncestorOf(QApplication::focusWidget()));
    // What is changed is asked about anew.
    m_daemon->on("sandboxes.plan", noProblems());
    m_page->draft().set("python_version", "3.13");
    QVERIFY(row->problemText().isEmpty());
    QVERIFY(waitFor([this] { return m_page->primaryAction()->isEnabled(); }));
    QVERIFY(!button(QStringLiteral("1 problem(s)")));
}

void SandboxLookTest::whatIsWrongIsInTheWayOfStart()
{
    m_page->draft().set(Json::parse(R"({"timeout": "soon", "models": [{"name": "org/a"}, {"name": ""}]})"));
    QVERIFY(waitFor([this] { return button(QStringLiteral("2 problem(s)")) != nullptr; }));
    QVERIFY(!m_page->primaryAction()->isEnabled());
    m_page->showObstacle();
    // The second model's name, not the list.
    auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(line && form()->row("models")->isAncestorOf(line));
    QVERIFY(line->text().isEmpty());
    QTest::keyClicks(line, QStringLiteral("org/b"));
    m_page->showObstacle();
    QVERIFY(form()->row("timeout")->isAncestorOf(QApplication::focusWidget()));
    QTest::keySequence(QApplication::focusWidget(), QKeySequence::SelectAll);
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("2 h"));
    QVERIFY(waitFor([this] { return m_page->primaryAction()->isEnabled(); }));
}

void SandboxLookTest::onlyWhatIsSetSaysWhereItComesFrom()
{
    const auto said = [this](const char* field) {
        QStringList texts;
        for (const auto* label : form()->row(field)->findChildren<QLabel*>())
            texts += label->text();
        return texts.join(QLatin1Char('|'));
    };
    m_page->setFocus();
    QVERIFY(!said("memory").contains(QStringLiteral("default")));
    QVERIFY(!said("cpu").contains(QStringLiteral("default")));
    // Who is there is told.
    form()->showField("memory");
    QVERIFY(said("memory").contains(QStringLiteral("default")));
    QVERIFY(!said("cpu").contains(QStringLiteral("default")));
    form()->showField("cpu");
    QVERIFY(!said("memory").contains(QStringLiteral("default")));
    m_page->draft().set("memory", 1 << 30);
    QVERIFY(said("memory").contains(QStringLiteral("set by you")));
    QCOMPARE(
        form()->row("memory")->field()->focusProxy()->accessibleDescription(), QStringLiteral("set by you"));
    QCOMPARE(form()->row("disk")->field()->focusProxy()->accessibleDescription(), QStringLiteral("default"));
}

void SandboxLookTest::pythonsThatNobodyCanMakeSayWhy()
{
    const auto* combo = form()->row("python_version")->field()->findChild<QComboBox*>();
    const auto reason = [combo](const char* version) {
        const auto at = combo->findText(QLatin1String(version));
        const bool usable = combo->model()->flags(combo->model()->index(at, 0)).testFlag(Qt::ItemIsEnabled);
        return usable ? QStringLiteral("usable") : combo->itemData(at, Qt::ToolTipRole).toString();
    };
    QCOMPARE(reason("3.13"), QStringLiteral("usable"));
    QCOMPARE(reason("3.11"), QStringLiteral("usable"));
    QCOMPARE(reason("3.12"), QStringLiteral("There is no image with it."));
    QVERIFY(reason("3.10").contains(QStringLiteral("/opt/python3.10")));
    QVERIFY(combo->findText(QStringLiteral("3.9")) < combo->findText(QStringLiteral("3.12")));
}

void SandboxLookTest::timesAreReadAndShown()
{
    auto* line = form()->row("timeout")->field()->findChild<QLineEdit*>();
    const std::pair<const char*, int> typed[] = {
        {"90", 90}, {"1.5 h", 5400}, {"2 hours 5 minutes", 7500}, {"1h30m", 5400}, {"1 day", 86'400}};
    for (const auto& [text, seconds] : typed) {
        line->setFocus();
        QTest::keySequence(line, QKeySequence::SelectAll);
        QTest::keyClicks(line, QString::fromLatin1(text));
        QVERIFY2(m_page->draft().value("timeout") == Json(seconds), text);
    }
    // Who leaves the field sees what was understood.
    QTest::keySequence(line, QKeySequence::SelectAll);
    QTest::keyClicks(line, QStringLiteral("90"));
    QTest::keyClick(line, Qt::Key_Tab);
    QCOMPARE(line->text(), QStringLiteral("1 min 30 s"));
}

void SandboxLookTest::theWheelOnlyScrolls()
{
    const auto before = m_page->draft().values();
    auto* area = form()->findChild<QScrollArea*>();
    int turned = 0;
    for (auto* combo : form()->findChildren<QComboBox*>()) {
        if (!combo->isVisible() || !combo->isEnabled())
            continue;
        area->ensureWidgetVisible(combo);
        area->verticalScrollBar()->setValue(area->verticalScrollBar()->value() - 40);
        auto* target = combo->lineEdit() ? static_cast<QWidget*>(combo->lineEdit()) : combo;
        const auto at = area->verticalScrollBar()->value();
        const QPointF center = target->rect().center();
        QWheelEvent wheel(center, target->mapToGlobal(center), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
            Qt::NoScrollPhase, false);
        QSpontaneKeyEvent::setSpontaneous(&wheel); // only what comes from outside is passed on
        qApp->notify(target, &wheel);
        QVERIFY(!combo->hasFocus());
        turned += area->verticalScrollBar()->value() != at;
    }
    QVERIFY(turned >= 4);
    QVERIFY(m_page->draft().values() == before);
}

void SandboxLookTest::theOutlineKeepsWhatWasAskedFor()
{
    const auto sections = form()->sections();
    int reached = -1;
    connect(form(), &DraftForm::sectionReached, this, [&reached](int index) { reached = index; });
    for (int i = 0; i < sections.size(); ++i) {
        form()->showSection(i);
        QCOMPARE(reached, i);
    }
    form()->enterSection(1);
    QVERIFY(form()->row("models")->isAncestorOf(QApplication::focusWidget()));
    QCOMPARE(reached, 1);
}

void SandboxLookTest::nothingStandsEmptyAboveTheSections()
{
    const QListWidget* list = nullptr;
    for (const auto* each : m_page->list()->findChildren<QListWidget*>())
        if (each->accessibleName() == QLatin1String("Sandboxes"))
            list = each;
    QVERIFY(list);
    const auto isAsTallAs = [list](int rows) {
        const auto row = list->sizeHintForRow(0);
        return list->count() == rows && list->height() >= rows * row && list->height() < (rows + 1) * row;
    };
    QVERIFY2(waitFor([&] { return isAsTallAs(1); }), qPrintable(QString::number(list->height())));
    for (const auto* id : {"a", "b", "c"})
        m_daemon->setItem("sandboxes", id, {{"id", id}, {"name", id}, {"state", "stopped"}});
    QVERIFY2(waitFor([&] { return isAsTallAs(4); }), qPrintable(QString::number(list->height())));
    for (const auto* id : {"a", "b", "c"})
        m_daemon->setItem("sandboxes", id, nullptr);
    QVERIFY2(waitFor([&] { return isAsTallAs(1); }), qPrintable(QString::number(list->height())));
}

void SandboxLookTest::notebookPackagesAreForNotebooks()
{
    QVERIFY(!form()->row("notebook_packages")->isVisibleTo(form()));
    m_page->draft().set("execution_mode", "notebook");
    QVERIFY(form()->row("notebook_packages")->isVisibleTo(form()));
    m_page->draft().set("execution_mode", "cli");
    QVERIFY(!form()->row("notebook_packages")->isVisibleTo(form()));
}

void SandboxLookTest::everySectionCanBeRead_data()
{
    QTest::addColumn<QByteArray>("fields");
    QTest::newRow("pristine") << QByteArray("{}");
    QTest::newRow("filled") << QByteArray::fromStdString(filled().dump());
    QTest::newRow("wrong") << QByteArray::fromStdString(wrong().dump());
    QTest::newRow("long") << QByteArray::fromStdString(veryLong().dump());
}

void SandboxLookTest::everySectionCanBeRead()
{
    QFETCH(const QByteArray, fields);
    const bool looked = qEnvironmentVariableIsSet("GB_PICTURES");
    m_page->draft().set(Json::parse(fields.toStdString()));
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        if (!looked && scheme == Scheme::Dark)
            continue; // another theme restyles every widget, which takes a while
        Theme::instance().apply({scheme});
        QTest::qWait(1);
        for (int i = 0; i < form()->sections().size(); ++i) {
            if (!form()->sections()[i].shown)
                continue;
            form()->showSection(i);
            QTest::qWait(1);
            const auto clipped = clippedIn(m_page.get());
            QVERIFY2(clipped.isEmpty(),
                qPrintable(QStringLiteral("%1: \"%2\"").arg(form()->sections()[i].title, clipped)));
            const auto name = QStringLiteral("look-%1-%2-%3")
                                  .arg(QLatin1String(QTest::currentDataTag()),
                                      QLatin1String(scheme == Scheme::Dark ? "dark" : "light"))
                                  .arg(i);
            QVERIFY(!looked || test::colorsIn(test::picture(*m_page, name)) > 8);
        }
    }
}

QTEST_MAIN(SandboxLookTest)
#include "tst_sandboxlook.moc"
