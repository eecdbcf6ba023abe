// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>

#include <backend/base/paths.h>
#include <backend/base/version.h>
#include <widgets/controls/lookstore.h>
#include <widgets/controls/splitter.h>
#include <widgets/shell/commandline.h>
#include <widgets/shell/language.h>
#include <widgets/shell/mainwindow.h>
#include <widgets/shell/shot.h>
#include <widgets/shell/stallwatch.h>

namespace {

QSize sizeOf(const QString& text)
{
    const auto parts = text.split(QLatin1Char('x'));
    const QSize size(parts.value(0).toInt(), parts.value(1).toInt());
    return size.width() > 0 && size.height() > 0 ? size : QSize(1280, 800);
}

} // namespace

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("Glovebox"));
    QApplication::setApplicationVersion(QString::fromLatin1(gb::version()));
    QApplication::setDesktopFileName(QStringLiteral("glovebox"));
    gb::ui::logStalls(&application);
    QCommandLineParser parser;
    gb::ui::addWindowOptions(parser);
    parser.process(application);

    const auto data = gb::dataFolder();
    gb::ui::setRememberedFile(QString::fromStdString((data / "window.ini").string()));
    const auto lang = parser.value(QStringLiteral("lang"));
    gb::ui::installLanguage(lang.isEmpty() ? gb::ui::rememberedLanguage() : lang);
    auto look = gb::ui::rememberedLook();
    if (parser.isSet(QStringLiteral("theme")))
        look.scheme = parser.value(QStringLiteral("theme")) == QLatin1String("dark") ? gb::ui::Scheme::Dark
                                                                                     : gb::ui::Scheme::Light;
    gb::ui::Theme::instance().apply(look);

    gb::api::Client client({data, "window", true, true, {}});
    const auto page =
        parser.value(parser.isSet(QStringLiteral("shot")) ? QStringLiteral("shot") : QStringLiteral("page"));
    const auto pageId = page.section(QLatin1Char(':'), 0, 0);
    if (const auto wrong = gb::ui::refusedOption(parser, pageId, client); !wrong.isEmpty()) {
        std::fprintf(stderr, "glovebox-gui: %s\n", qPrintable(wrong));
        return 2;
    }
    gb::ui::MainWindow window(client, pageId);
    if (parser.isSet(QStringLiteral("theme")))
        window.fixScheme();
    if (parser.isSet(QStringLiteral("experiment")))
        window.openExperiment(QDir(parser.value(QStringLiteral("experiment"))).absolutePath());
    client.open();
    if (parser.isSet(QStringLiteral("shot"))) {
        gb::ui::takeShot(window,
            {pageId, page.section(QLatin1Char(':'), 1), parser.value(QStringLiteral("out")),
                sizeOf(parser.value(QStringLiteral("size"))),
                parser.isSet(QStringLiteral("wait")) ? parser.value(QStringLiteral("wait")).toInt() : 300});
        return QApplication::exec();
    }
    window.show();
    return QApplication::exec();
}
