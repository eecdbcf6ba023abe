<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<!-- SPDX-FileCopyrightText: The Glovebox authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->
<TS version="2.1" language="en_GB">
<context>
    <name>inspector</name>
    <message numerus="yes">
        <source>%n call(s)</source>
        <translation>
            <numerusform>%n call</numerusform>
            <numerusform>%n calls</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n call(s) written to %1</source>
        <translation>
            <numerusform>%n call written to %1</numerusform>
            <numerusform>%n calls written to %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>home</name>
    <message numerus="yes">
        <source>about %n minute(s)</source>
        <translation>
            <numerusform>about %n minute</numerusform>
            <numerusform>about %n minutes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) in order</source>
        <translation>
            <numerusform>%n check in order</numerusform>
            <numerusform>%n checks in order</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n call(s)</source>
        <translation>
            <numerusform>%n call</numerusform>
            <numerusform>%n calls</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n error</numerusform>
            <numerusform>%n errors</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n function(s)</source>
        <translation>
            <numerusform>%n function</numerusform>
            <numerusform>%n functions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>sandboxes</name>
    <message numerus="yes">
        <source>%n value(s) cannot be used</source>
        <translation>
            <numerusform>%n value cannot be used</numerusform>
            <numerusform>%n values cannot be used</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s)</source>
        <translation>
            <numerusform>%n problem</numerusform>
            <numerusform>%n problems</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n step(s) to do</source>
        <translation>
            <numerusform>%n step to do</numerusform>
            <numerusform>%n steps to do</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n error(s)</source>
        <translation>
            <numerusform>%n error</numerusform>
            <numerusform>%n errors</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>shell</name>
    <message numerus="yes">
        <source>%n job(s)</source>
        <translation>
            <numerusform>%n job</numerusform>
            <numerusform>%n jobs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n new notification(s)</source>
        <translation>
            <numerusform>%n new notification</numerusform>
            <numerusform>%n new notifications</numerusform>
        </translation>
    </message>
</context>
</TS>
