// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include <backend/base/clock.h>
#include <widgets/controls/banner.h>
#include <widgets/controls/buttons.h>
#include <widgets/controls/detailspanel.h>
#include <widgets/controls/emptystate.h>
#include <widgets/controls/filterfield.h>
#include <widgets/controls/frames.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/keyvaluelist.h>
#include <widgets/controls/labels.h>
#include <widgets/controls/meter.h>
#include <widgets/controls/numbers.h>
#include <widgets/controls/pagebar.h>
#include <widgets/controls/progressrow.h>
#include <widgets/controls/splitter.h>
#include <widgets/controls/statepill.h>
#include <widgets/controls/theme.h>
#include <widgets/controls/toast.h>

#include <tests/support/picture.h>

using namespace gb::ui;

class ControlsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void numbersReadWell();
    void bannerOffersAWayOut();
    void progressSaysTheRightThings();
    void keyValuesAreCopied();
    void filterWaitsAndClears();
    void toastUndoesOnce();
    void splitterRemembersAndRestores();
    void detailsFold();
    void longTextDoesNotWiden();
    void gallery_data();
    void gallery();
    void icons();

private:
    QTemporaryDir m_folder;
};

void ControlsTest::initTestCase()
{
    QLocale::setDefault(QLocale::c());
    setRememberedFile(m_folder.filePath(QStringLiteral("window.ini")));
    Theme::instance().apply({Scheme::Light});
}

void ControlsTest::numbersReadWell()
{
    const auto nbsp = [](QString text) { return text.replace(QChar(0x00A0), QLatin1Char(' ')); };
    QCOMPARE(nbsp(bytesText(0)), QStringLiteral("0 B"));
    QCOMPARE(nbsp(bytesText(999)), QStringLiteral("999 B"));
    QCOMPARE(nbsp(bytesText(1400)), QStringLiteral("1.4 kB"));
    QCOMPARE(nbsp(bytesText(999'999)), QStringLiteral("1 MB"));
    QCOMPARE(nbsp(rateText(210e6)), QStringLiteral("210 MB/s"));
    QCOMPARE(nbsp(durationText(12'400'000)), QStringLiteral("12.4 ms"));
    QCOMPARE(nbsp(durationText(840'000)), QString::fromUtf8("840 µs"));
    QCOMPARE(durationText(125'000'000'000), QStringLiteral("2 min 05 s"));
    QCOMPARE(clockText(41), QStringLiteral("0:41"));
    QCOMPARE(clockText(3723), QStringLiteral("1:02:03"));
    QCOMPARE(moneyText(0), QStringLiteral("$0.00"));
    QCOMPARE(moneyText(0.042), QStringLiteral("$0.042"));
    QCOMPARE(agoText(1000, 2000), QStringLiteral("just now"));
    QCOMPARE(agoText(0, 300'000), QStringLiteral("5 min ago"));
}

void ControlsTest::bannerOffersAWayOut()
{
    QWidget page;
    auto* banner = new Banner(&page);
    QVERIFY(!banner->isVisibleTo(&page));
    int tried = 0;
    banner->showError(QStringLiteral("The interface did not load"),
        {"load_failed", "interface.py, line 3: no module named torch", {{"line", 3}}});
    banner->addAction(QStringLiteral("Try again"), [&tried] { ++tried; });
    QVERIFY(banner->isVisibleTo(&page));
    QVERIFY(banner->accessibleName().contains(QStringLiteral("no module named torch")));
    const auto buttons = banner->findChildren<QPushButton*>();
    QCOMPARE(buttons.size(), 1);
    buttons[0]->click();
    QCOMPARE(tried, 1);
    banner->dismiss();
    QVERIFY(!banner->isVisibleTo(&page));
}

void ControlsTest::progressSaysTheRightThings()
{
    ProgressSpec spec{QStringLiteral("gemma"), {}, QStringLiteral("running"), QStringLiteral("bytes"), 620e6,
        1e9, 210e6, 41, true};
    auto text = ProgressRow::figures(spec);
    QCOMPARE(text.replace(QChar(0x00A0), QLatin1Char(' ')), QString::fromUtf8("62 % · 210 MB/s · 0:41"));
    ProgressRow row;
    QSignalSpy cancelled(&row, &ProgressRow::cancelRequested);
    row.setProgress(spec);
    auto* button = row.findChild<QToolButton*>();
    QCOMPARE(button->accessibleName(), QStringLiteral("Cancel gemma"));
    button->click();
    QCOMPARE(cancelled.size(), 1);
    spec.state = QStringLiteral("done");
    row.setProgress(spec);
    QVERIFY(!button->isVisibleTo(&row));
}

void ControlsTest::keyValuesAreCopied()
{
    KeyValueList list;
    list.setRows({{QStringLiteral("URL"), QStringLiteral("http://127.0.0.1:8000"), true},
        {QStringLiteral("PID"), QStringLiteral("42")}});
    QCOMPARE(list.count(), 2);
    QSignalSpy copied(&list, &KeyValueList::copied);
    list.findChildren<QToolButton*>().at(0)->click();
    QCOMPARE(copied.size(), 1);
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("http://127.0.0.1:8000"));
}

void ControlsTest::filterWaitsAndClears()
{
    FilterField field(QStringLiteral("Filter functions"));
    QSignalSpy changed(&field, &FilterField::filterChanged);
    QTest::keyClicks(&field, QStringLiteral("gen"));
    QVERIFY(changed.isEmpty());
    QTRY_COMPARE(changed.size(), 1);
    QCOMPARE(changed[0][0].toString(), QStringLiteral("gen"));
    QTest::keyClick(&field, Qt::Key_Escape);
    QVERIFY(field.text().isEmpty());
}

void ControlsTest::toastUndoesOnce()
{
    QWidget page;
    page.resize(600, 400);
    page.show();
    Toast toast(&page);
    int undone = 0;
    QSignalSpy expired(&toast, &Toast::expired);
    toast.showUndo(QStringLiteral("Comment removed"), [&undone] { ++undone; });
    QVERIFY(toast.isVisible());
    toast.findChild<QPushButton*>()->click();
    QCOMPARE(undone, 1);
    QVERIFY(!toast.isVisible());
    QVERIFY(expired.isEmpty());
    toast.showUndo(
        QStringLiteral("Comment removed"), [&undone] { ++undone; }, 1);
    QTRY_COMPARE(expired.size(), 1);
    QCOMPARE(undone, 1);
}

void ControlsTest::splitterRemembersAndRestores()
{
    const auto make = [] {
        auto splitter = std::make_unique<Splitter>(QStringLiteral("test"), Qt::Horizontal);
        splitter->addWidget(new QWidget);
        splitter->addWidget(new QWidget);
        splitter->setDefaults({1, 3});
        splitter->resize(801, 100);
        splitter->show();
        return splitter;
    };
    {
        const auto splitter = make();
        QVERIFY(qAbs(splitter->sizes()[0] - 200) < 4);
        splitter->setSizes({400, 400});
        remembered().setValue(QStringLiteral("splitters/test"), splitter->saveState());
    }
    const auto again = make();
    QVERIFY(qAbs(again->sizes()[0] - 400) < 4);
    QTest::mouseDClick(again->handle(1), Qt::LeftButton);
    QVERIFY(qAbs(again->sizes()[0] - 200) < 4);
}

void ControlsTest::detailsFold()
{
    DetailsPanel panel(QStringLiteral("Details"));
    panel.setContent(makeLabel(QStringLiteral("content")));
    panel.show();
    panel.findChild<QToolButton*>()->click();
    QVERIFY(!panel.isOpen());
    QVERIFY(panel.maximumWidth() < 50);
    panel.setOpen(true);
    QVERIFY(panel.maximumWidth() > 1000);
}

void ControlsTest::longTextDoesNotWiden()
{
    ProgressRow row;
    row.setProgress(
        {QString(5000, QLatin1Char('x')), QString(5000, QLatin1Char('y')), QStringLiteral("running")});
    QVERIFY(row.minimumSizeHint().width() < 400);
    ElidedLabel label(QStringLiteral("<b>not markup</b>"));
    QCOMPARE(label.textFormat(), Qt::PlainText);
}

void ControlsTest::gallery_data()
{
    QTest::addColumn<bool>("dark");
    QTest::newRow("light") << false;
    QTest::newRow("dark") << true;
}

void ControlsTest::gallery()
{
    QFETCH(const bool, dark);
    Theme::instance().apply({dark ? Scheme::Dark : Scheme::Light});
    QWidget page;
    page.resize(1000, 900);
    auto* column = new QVBoxLayout(&page);
    column->setContentsMargins(space::xl, space::xl, space::xl, space::xl);
    column->setSpacing(space::m);
    auto* bar = new PageBar(QStringLiteral("Models"));
    bar->addWidget(new FilterField(QStringLiteral("Filter models")), 1);
    bar->addAction(
        makeAction(&page, QStringLiteral("Refresh"), QStringLiteral("refresh"), QStringLiteral("F5")));
    bar->setPrimary(makeAction(&page, QStringLiteral("Add model"), QStringLiteral("plus")));
    column->addWidget(bar);
    auto* pills = new QHBoxLayout;
    for (const auto* state : {"ready", "running", "loading", "warning", "failed", "ended"}) {
        auto* pill = new StatePill;
        pill->setState(QLatin1String(state), StatePill::toneOf(QLatin1String(state)), gb::wallMs() - 720'000);
        pills->addWidget(pill);
    }
    pills->addStretch();
    column->addLayout(pills);
    for (const auto tone : {Tone::Info, Tone::Success, Tone::Warning, Tone::Error}) {
        auto* banner = new Banner;
        banner->show(tone, QStringLiteral("The interface did not load"),
            QStringLiteral(
                "interface.py, line 3: No module named 'torch'. The sandbox's Python has no torch."),
            QStringLiteral("Traceback …"));
        banner->addAction(QStringLiteral("Open the file"), [] {});
        column->addWidget(banner);
    }
    auto* card = makeFrame(FrameKind::Card);
    auto* inside = new QVBoxLayout(card);
    for (const auto* state : {"running", "queued", "failed"}) {
        auto* row = new ProgressRow;
        row->setProgress(
            {QStringLiteral("google/gemma-2-9b"), QStringLiteral("model-00001-of-00004.safetensors"),
                QLatin1String(state), QStringLiteral("bytes"), 620e6, 1e9, 210e6, 41, true});
        inside->addWidget(row);
    }
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(makeButton(QStringLiteral("Run"), ButtonKind::Primary, QStringLiteral("play")));
    buttons->addWidget(makeButton(QStringLiteral("Open"), ButtonKind::Normal, QStringLiteral("folder")));
    buttons->addWidget(makeButton(QStringLiteral("Stop"), ButtonKind::Danger, QStringLiteral("stop")));
    buttons->addWidget(makeButton(QStringLiteral("Learn more"), ButtonKind::Link));
    auto* off = makeButton(QStringLiteral("Run"), ButtonKind::Primary, QStringLiteral("play"));
    off->setEnabled(false);
    buttons->addWidget(off);
    auto* box = new QCheckBox(QStringLiteral("Pinned"));
    box->setChecked(true);
    buttons->addWidget(box);
    auto* combo = new QComboBox;
    combo->addItems({QStringLiteral("float32"), QStringLiteral("bfloat16")});
    buttons->addWidget(combo);
    buttons->addWidget(new QSpinBox);
    buttons->addStretch();
    inside->addLayout(buttons);
    column->addWidget(card);
    auto* low = new QHBoxLayout;
    auto* values = new KeyValueList;
    values->setRows({{QStringLiteral("Address"), QStringLiteral("http://127.0.0.1:41234/"), true},
        {QStringLiteral("Python"), QStringLiteral("3.11.2")},
        {QStringLiteral("Process"), QStringLiteral("4711")}});
    low->addWidget(values, 2);
    auto* meters = new QVBoxLayout;
    for (const auto limit : {100.0, 62.0}) {
        auto* meter = new Meter(limit > 90 ? QStringLiteral("CPU") : QStringLiteral("Memory"));
        for (int i = 0; i < 100; ++i)
            meter->setReading(40 + 20 * std::sin(i / 9.0), limit, QStringLiteral("58 %"));
        meters->addWidget(meter);
    }
    low->addLayout(meters, 1);
    low->addWidget(new EmptyState(QStringLiteral("runs"), QStringLiteral("No runs yet"),
                       QStringLiteral("Press Run to let an agent work with these functions.")),
        2);
    column->addLayout(low, 1);
    const auto image =
        gb::test::picture(page, QStringLiteral("controls-%1").arg(QLatin1String(QTest::currentDataTag())));
    QVERIFY(gb::test::colorsIn(image) > 20);
}

void ControlsTest::icons()
{
    Theme::instance().apply({Scheme::Light});
    QWidget page;
    auto* grid = new QGridLayout(&page);
    int at = 0;
    for (const auto& name : iconNames()) {
        auto* label = new QLabel;
        label->setPixmap(iconPixmap(name, 20, tokens().text, 2));
        grid->addWidget(label, at / 10 * 2, at % 10, Qt::AlignCenter);
        grid->addWidget(makeLabel(name, TextRole::Caption), at / 10 * 2 + 1, at % 10, Qt::AlignCenter);
        ++at;
    }
    QVERIFY(gb::test::colorsIn(gb::test::picture(page, QStringLiteral("icons"))) > 8);
}

QTEST_MAIN(ControlsTest)
#include "tst_controls.moc"
