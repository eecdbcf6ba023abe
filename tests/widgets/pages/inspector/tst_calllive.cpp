// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>

#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QListView>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <backend/base/ids.h>
#include <tests/support/livedaemon.h>
#include <tests/support/picture.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/codeeditor.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/pages/inspector/callpanel.h>
#include <widgets/pages/inspector/historypanel.h>
#include <widgets/pages/inspector/inspectorpage.h>
#include <widgets/pages/inspector/sourcepanel.h>
#include <widgets/viewers/resultview.h>

using namespace gb;
using namespace gb::ui;

// What becomes of calls to a real host, with a picture of each in both themes.
class CallLiveTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void streamsWhileItRuns();
    void errorLeadsToItsLine();
    void stubbornOneIsForced();
    void followsACallOfSomebodyElse();
    void nothingIsSaidSo();
    void severalAreChosen();
    void longAndHostile();

private:
    bool waitFor(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, 20'000); }
    bool choose(const QString& name);
    CallPanel* panel() const { return m_page->findChild<CallPanel*>(); }
    // Without the time beside it.
    QString state() const { return panel()->findChild<StatePill*>()->text().section(QLatin1Char(' '), 0, 0); }
    QPushButton* way(const QString& beginning) const;
    bool says(const QString& text) const; // in place of the result
    void pictures(const char* name);

    QTemporaryDir m_folder;
    QProcess m_serve;
    std::unique_ptr<api::Client> m_client;
    std::unique_ptr<InspectorPage> m_page;
};

namespace {

constexpr auto liveInterface = R"PY("""Functions that behave badly."""
import json
import time
from typing import Iterator, Literal


@expose
def sweep(layers: int = 12) -> Iterator[dict]:
    """Steers layer after layer and says what came of each."""
    for layer in range(layers):
        progress(layer + 1, layers, f"layer {layer}")
        if layer == 4:
            while not cancelled():
                time.sleep(0.01)
            return
        yield {"layer": layer, "norm": 0.5 + layer / 7, "text": "The cat sat on the hovercraft"}


def parsed(prompt: str) -> dict:
    return json.loads(prompt)


@expose
def steer(prompt: str = "{not json") -> dict:
    """Adds a direction to the residual stream."""
    print("reading the prompt")
    return parsed(prompt)


@expose
def patient(go: str) -> str:
    """Waits for a file."""
    import os
    progress(1, 2, "waiting")
    while not os.path.exists(go):
        time.sleep(0.01)
    return "it came"


@expose
def nothing() -> None:
    """Gives nothing back."""


@expose
def stubborn() -> str:
    """Does not listen."""
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass


@expose
def a_function_whose_name_goes_on_and_on_until_no_column_of_a_window_is_wide_enough(
    choice: Literal["<b>bold</b>", "\u202egnp.exe", "plain"] = "plain",
    an_argument_with_a_name_that_is_longer_than_any_label_should_have_to_be: str = "x" * 3000,
) -> str:
    """<img src=x onerror=alert(1)> <a href='https://example.org'>Click</a> \u202e turned around, and a summary \
that is far longer than one line of the panel can be, so that it has to be broken somewhere.

    Args:
        choice: <script>alert(1)</script> \u202e which one.
    """
    return "no spaces here " + "x" * 5000
)PY";

} // namespace

void CallLiveTest::initTestCase()
{
    m_client = test::liveClient(m_folder.path());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
    QFile source(m_folder.filePath(QStringLiteral("probe.py")));
    QVERIFY(source.open(QIODevice::WriteOnly));
    source.write(liveInterface);
    source.close();
    m_serve.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_serve.start(QStringLiteral(GB_BIN_DIR "/glovebox"), {QStringLiteral("serve"), source.fileName()});
    QVERIFY(m_serve.waitForStarted());
    m_client->watch({"interfaces", "calls"});
    m_page = std::make_unique<InspectorPage>(*m_client);
    m_client->open();
    m_page->resize(1280, 744);
    m_page->show();
    QVERIFY(
        QTest::qWaitFor([this] { return m_page->findChild<FunctionList*>()->find(QStringLiteral("steer")); },
            test::daemonTimeoutMs));
}

void CallLiveTest::cleanupTestCase()
{
    m_page.reset();
    test::endLive(m_client);
    ::kill(static_cast<pid_t>(m_serve.processId()), SIGINT);
    QVERIFY(m_serve.waitForFinished());
}

bool CallLiveTest::choose(const QString& name)
{
    m_page->showPlace(name);
    return waitFor([&] {
        const auto* function = m_page->findChild<FunctionList*>()->current();
        return function && stringOr(function->schema, "name") == name.toStdString();
    });
}

QPushButton* CallLiveTest::way(const QString& beginning) const
{
    for (auto* button : panel()->findChildren<QPushButton*>())
        if (button->isVisible() && button->text().startsWith(beginning))
            return button;
    return nullptr;
}

bool CallLiveTest::says(const QString& text) const
{
    for (const auto* label : panel()->findChild<ResultView*>()->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(text))
            return true;
    return false;
}

void CallLiveTest::pictures(const char* name)
{
    for (const auto scheme : {Scheme::Dark, Scheme::Light}) {
        Theme::instance().apply({scheme});
        for (const auto& size : {QSize(1220, 744), QSize(1860, 1140)}) {
            m_page->resize(size);
            QCoreApplication::processEvents();
            const auto file =
                QStringLiteral("live-%1-%2-%3")
                    .arg(QLatin1String(name), QLatin1String(scheme == Scheme::Dark ? "dark" : "light"))
                    .arg(size.width());
            QVERIFY(test::colorsIn(test::picture(*m_page, file)) > 8);
        }
    }
    m_page->resize(1220, 744);
}

void CallLiveTest::streamsWhileItRuns()
{
    QVERIFY(choose(QStringLiteral("sweep")));
    panel()->runAction()->trigger();
    auto* result = panel()->findChild<ResultView*>();
    // The fifth one does not come.
    QVERIFY(waitFor([&] { return result->forms().contains(ResultView::Form::Table); }));
    QVERIFY(panel()->findChild<ProgressRow*>()->isVisible());
    QVERIFY(panel()->cancelAction()->isEnabled());
    QCOMPARE(state(), QStringLiteral("running"));
    pictures("busy");
    panel()->cancelAction()->trigger();
    QVERIFY(waitFor([this] { return !panel()->cancelAction()->isEnabled(); }));
    QVERIFY(!panel()->findChild<ProgressRow*>()->isVisible());
    pictures("cancelled");
}

void CallLiveTest::errorLeadsToItsLine()
{
    QVERIFY(choose(QStringLiteral("steer")));
    panel()->runAction()->trigger();
    QVERIFY(waitFor([this] { return state() == QLatin1String("error"); }));
    pictures("error");
    // The place of the result says what came instead, and leads to it, also when the banner was closed.
    QVERIFY(says(QStringLiteral("The call failed: json.decoder.JSONDecodeError")));
    QVERIFY(says(QStringLiteral("Expecting property name")));
    auto* banner = panel()->findChild<Banner*>();
    banner->dismiss();
    QVERIFY(way(QStringLiteral("Show the error")));
    way(QStringLiteral("Show the error"))->click();
    QVERIFY(banner->isVisible());
    QVERIFY(banner->isAncestorOf(QApplication::focusWidget()));
    auto* go = way(QStringLiteral("Go to line"));
    QVERIFY(go);
    // The deepest line of the file, not that of the library it called.
    const auto lines = QString::fromUtf8(liveInterface).split(QLatin1Char('\n'));
    const auto wanted = static_cast<int>(lines.indexOf(QStringLiteral("    return json.loads(prompt)"))) + 1;
    QCOMPARE(go->text(), QStringLiteral("Go to line %1").arg(wanted));
    go->click();
    auto* source = panel()->source();
    QVERIFY(waitFor([source] { return source->isVisible() && source->settled(); }));
    QVERIFY(waitFor([&] { return source->editor()->currentLine() == wanted; }));
    pictures("line");
}

void CallLiveTest::stubbornOneIsForced()
{
    QVERIFY(choose(QStringLiteral("stubborn")));
    panel()->runAction()->trigger();
    QVERIFY(waitFor([this] { return state() == QLatin1String("running"); }));
    QVERIFY(waitFor([this] { return says(QStringLiteral("Running since")); }));
    panel()->cancelAction()->trigger();
    QCOMPARE(panel()->cancelAction()->text(), QStringLiteral("Force"));
    pictures("forcing");
    panel()->cancelAction()->trigger();
    QVERIFY(waitFor([this] { return !panel()->cancelAction()->isEnabled(); }));
    QCOMPARE(state(), QStringLiteral("killed"));
    // It was called from the editor, and what came of it is in sight.
    QVERIFY(panel()->findChild<ResultView*>()->isVisible());
    QVERIFY(says(QStringLiteral("The call was ended by force")));
    pictures("forced");
}

void CallLiveTest::followsACallOfSomebodyElse()
{
    const auto& items = m_client->items("interfaces");
    const auto interface = items.begin().key();
    const auto call = newId();
    const auto go = m_folder.filePath(QStringLiteral("go")).toStdString();
    bool answered = false;
    m_client->call(this, "calls.run",
        {{"interface", interface}, {"fn", "patient"}, {"op", call}, {"kwargs", {{"go", go}}}},
        [&answered](const Result<api::Answer>& answer) { answered = answer.has_value(); });
    QVERIFY(waitFor([&] { return m_client->items("calls").contains(call); }));
    m_page->showPlace(QString::fromStdString(call));
    QVERIFY(waitFor([this] { return says(QStringLiteral("Running since")); }));
    // It can be cancelled from here, and says how far it is.
    QVERIFY(panel()->cancelAction()->isEnabled());
    QVERIFY(waitFor([this] { return panel()->findChild<ProgressRow*>()->isVisible(); }));
    pictures("followed");
    QFile(m_folder.filePath(QStringLiteral("go"))).open(QIODevice::WriteOnly);
    QVERIFY(waitFor([&answered] { return answered; }));
    QVERIFY2(waitFor([this] { return state() == QLatin1String("ok"); }), qPrintable(state()));
    QCOMPARE(panel()->shownCall().toStdString(), call);
    QVERIFY(!panel()->cancelAction()->isEnabled());
    QVERIFY(panel()->findChild<ResultView*>()->forms().contains(ResultView::Form::Text));
}

void CallLiveTest::nothingIsSaidSo()
{
    QVERIFY(choose(QStringLiteral("nothing")));
    QVERIFY(says(QStringLiteral("Ready to be called")));
    const auto saysWhatComes = [this] {
        const auto labels = panel()->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [](const QLabel* label) {
            return label->text().startsWith(QLatin1String("Who called")) && !label->isHidden();
        });
    };
    QVERIFY(saysWhatComes());
    panel()->runAction()->trigger();
    QVERIFY(waitFor([this] { return state() == QLatin1String("ok"); }));
    QVERIFY(!saysWhatComes());
    QVERIFY(says(QStringLiteral("It returned None")));
    // The list shows which call this is.
    auto* history = m_page->findChild<HistoryPanel*>();
    QVERIFY(waitFor([&] {
        const auto rows = history->list()->selectionModel()->selectedRows();
        return rows.size() == 1 && rows.first().row() == 0 && history->list()->model()->rowCount() > 4;
    }));
    pictures("none");
}

void CallLiveTest::severalAreChosen()
{
    auto* list = m_page->findChild<HistoryPanel*>()->list();
    QVERIFY(waitFor([&] { return m_page->settled() && list->model()->rowCount() > 3; }));
    const auto click = [list](int row, Qt::KeyboardModifiers keys) {
        QTest::mouseClick(
            list->viewport(), Qt::LeftButton, keys, list->visualRect(list->model()->index(row, 0)).center());
    };
    const auto rows = [list] {
        QList<int> all;
        for (const auto& index : list->selectionModel()->selectedRows())
            all += index.row();
        std::ranges::sort(all);
        return all;
    };
    click(0, Qt::NoModifier);
    QCOMPARE(rows(), QList<int>{0});
    click(2, Qt::ControlModifier);
    QCOMPARE(rows(), (QList<int>{0, 2}));
    click(3, Qt::ShiftModifier);
    QVERIFY2(rows().size() > 1, qPrintable(QString::number(rows().size())));
    // The last one is shown, and showing it takes nothing away.
    QVERIFY(waitFor([this] { return m_page->settled(); }));
    QVERIFY(rows().contains(3));
    click(1, Qt::NoModifier);
    QCOMPARE(rows(), QList<int>{1});
}

void CallLiveTest::longAndHostile()
{
    QVERIFY(choose(
        QStringLiteral("a_function_whose_name_goes_on_and_on_until_no_column_of_a_window_is_wide_enough")));
    panel()->runAction()->trigger();
    QVERIFY(waitFor([this] { return state() == QLatin1String("ok"); }));
    pictures("long");
    // Nothing makes the page wider than the window.
    QVERIFY2(m_page->minimumSizeHint().width() <= 1220,
        qPrintable(QString::number(m_page->minimumSizeHint().width())));
}

QTEST_MAIN(CallLiveTest)
#include "tst_calllive.moc"
