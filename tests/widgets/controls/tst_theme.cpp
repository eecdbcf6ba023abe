// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QScrollBar>
#include <QTest>
#include <QVBoxLayout>

#include <widgets/controls/ansi.h>
#include <widgets/controls/icons.h>
#include <widgets/controls/stylesheet.h>
#include <widgets/controls/theme.h>

#include <tests/support/picture.h>

using namespace gb::ui;

class ThemeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void contrastOfKnownPairs();
    void textIsReadable_data();
    void textIsReadable();
    void styleSheetNamesNoUnknownToken();
    void iconsAreDrawnInTheirColor();
    void lookChangesEverything();
    void choicesAreShownWhole();
};

void ThemeTest::contrastOfKnownPairs()
{
    QVERIFY(qAbs(contrast(Qt::black, Qt::white) - 21) < 0.01);
    QVERIFY(qAbs(contrast(Qt::white, Qt::white) - 1) < 0.01);
    QVERIFY(contrast(QColor(0x777777), Qt::white) < 4.5); // the check can fail
}

void ThemeTest::textIsReadable_data()
{
    QTest::addColumn<int>("accent");
    QTest::addColumn<bool>("dark");
    for (int accent = 0; accent < 3; ++accent)
        for (const bool dark : {false, true})
            QTest::addRow("accent %d %s", accent, dark ? "dark" : "light") << accent << dark;
}

void ThemeTest::textIsReadable()
{
    QFETCH(const int, accent);
    QFETCH(const bool, dark);
    const auto t = dark ? darkTokens(Accent(accent)) : lightTokens(Accent(accent));
    const auto need = [](const char* what, const QColor& text, const QColor& on, double least) {
        const auto ratio = contrast(text, on);
        QVERIFY2(ratio >= least, qPrintable(QStringLiteral("%1: %2").arg(QLatin1String(what)).arg(ratio)));
    };
    for (const auto& on : {t.window, t.surface, t.sunken}) {
        need("text", t.text, on, 4.5);
        need("secondary", t.secondary, on, 4.5);
        need("disabled", t.disabled, on, 2);
        need("accent", t.accent, on, 4.5);
    }
    for (const auto tone :
        {Tone::Neutral, Tone::Accent, Tone::Info, Tone::Success, Tone::Warning, Tone::Error}) {
        need("tone on surface", toneColor(t, tone), t.surface, 4.5);
        need("text on its background", t.text, toneBackground(t, tone), 4.5);
    }
    need("on accent", t.onAccent, t.accent, 4.5);
    need("selected text", t.text, t.accentSoft, 4.5);
    need("chosen page", t.accent, t.accentSoft, 4.5);
    for (std::uint32_t code = 0; code <= 272; ++code)
        need("terminal colour", ansiColors({.foreground = code}, t).front, t.sunken, 4.4);
    // Black on green is how a listing marks a shared folder.
    for (std::uint32_t on = 1; on <= 272; ++on)
        for (std::uint32_t code = 0; code <= 16; ++code) {
            const auto colors = ansiColors({.foreground = code, .background = on}, t);
            need("terminal colour on its own", colors.front, colors.back, 4.4);
        }
}

void ThemeTest::styleSheetNamesNoUnknownToken()
{
    const auto sheet = makeStyleSheet(Theme::instance());
    QVERIFY(sheet.contains(Theme::instance().tokens().accent.name()));
    QVERIFY(!sheet.contains(QLatin1Char('@')));
}

void ThemeTest::iconsAreDrawnInTheirColor()
{
    const auto names = iconNames();
    QVERIFY(names.size() >= 40);
    for (const auto& name : names) {
        for (const int size : {16, 20}) {
            const auto image = iconPixmap(name, size, Qt::red, 2).toImage();
            QCOMPARE(image.width(), size * 2);
            int drawn = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    if (const auto color = image.pixelColor(x, y); color.alpha() > 200) {
                        ++drawn;
                        QVERIFY(color.red() > 200 && color.green() < 50);
                    }
            QVERIFY2(drawn > 3, qPrintable(name));
        }
    }
}

void ThemeTest::lookChangesEverything()
{
    auto& theme = Theme::instance();
    int changes = 0;
    connect(&theme, &Theme::changed, this, [&changes] { ++changes; });
    theme.apply({Scheme::Dark, Accent::Teal, 125, Density::Dense, false});
    QCOMPARE(QApplication::palette().color(QPalette::Window), darkTokens(Accent::Teal).window);
    QCOMPARE(QApplication::font().pixelSize(), 16);
    QCOMPARE(theme.rowHeight(), 24);
    theme.apply({Scheme::Light});
    QCOMPARE(QApplication::palette().color(QPalette::Window), lightTokens(Accent::Teal).window);
    QCOMPARE(changes, 2);
}

void ThemeTest::choicesAreShownWhole()
{
    Theme::instance().apply({Scheme::Light});
    for (const int count : {2, 3, 6}) {
        QWidget window;
        auto* combo = new QComboBox;
        for (int i = 0; i < count; ++i)
            combo->addItem(QString::number(i));
        auto* layout = new QVBoxLayout(&window);
        layout->addWidget(combo);
        window.show();
        const auto height = combo->height();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window, 60'000));
        combo->setFocus();
        QCOMPARE(combo->sizeHint().height(), height); // the ring of the focus moves nothing
        combo->showPopup();
        const auto* view = combo->view();
        QVERIFY(QTest::qWaitFor([view] { return view->isVisible(); }, 60'000));
        QCoreApplication::processEvents();
        QCOMPARE(view->verticalScrollBar()->maximum(), 0);
        QVERIFY(view->viewport()->height() >= count * view->sizeHintForRow(0));
        combo->hidePopup();
    }
}

QTEST_MAIN(ThemeTest)
#include "tst_theme.moc"
