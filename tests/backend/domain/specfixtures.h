// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// Beside the test and not in it: moc loses its place in raw strings like these.

#pragma once

namespace gb::test {

struct BadSpec
{
    const char* json;
    const char* field;
    const char* fix;
};

inline constexpr const char* fullSpec = R"({"name": "probe", "provider": "local", "scoped": false,
            "python_version": "3.12", "python_packages": ["numpy>=1.26", "x[a,b] ~= 1.0; python_version < '4'",
            "mine @ https://example.org/mine.whl"], "system_packages": ["git", "ffmpeg=7:5.1"], "gpu": "A100",
            "gpu_count": 2, "cpu": 1.5, "memory": "8 GiB", "disk": 1073741824, "timeout": 7200,
            "idle_timeout": 600, "spend_cap": 2.5, "execution_mode": "notebook", "debug": true,
            "secrets": ["HF_TOKEN"], "env": {"A": "b"}, "tags": {"team": "probing"},
            "network": ["data.example.org", "*.example.org:8443"], "encrypted_ports": [9000], "jupyter_port": 9001,
            "models": ["google/gemma-2-9b", {"name": "o/adapter", "is_peft": true, "base_model": "o/base",
            "hidden": true, "var_name": "adapter"}], "repos": ["org/repo", {"url": "https://example.org/a/b.git",
            "install": "pip install -e ."}], "local_files": [["./a.txt", "/workspace/a.txt"]],
            "local_dirs": [{"local": "data", "inside": "/workspace/data", "mode": "read-only"}],
            "colour": "green"})";

inline constexpr BadSpec badSpecs[] = {
    {"[]", "", "key = value"},
    {R"({"name": "/etc"})", "name", "letters"},
    {R"({"provider": "../x"})", "provider", "local"},
    {R"({"scoped": "yes"})", "scoped", "true or false"},
    {R"({"python_version": 3.11})", "python_version", "text in quotes"},
    {R"({"python_version": "2.7"})", "python_version", "3.11"},
    {R"({"python_version": "3.6"})", "python_version", "3.8"},
    {R"({"interpreter": "python3"})", "interpreter", "/usr/bin/python3"},
    {R"({"interpreter": "/usr/bin/python3", "system_packages": ["git"]})", "system_packages", "interpreter"},
    {R"({"interpreter": "/usr/bin/python3", "provider": "modal"})", "interpreter", "local"},
    {R"({"python_packages": "numpy"})", "python_packages", "list"},
    {R"({"python_packages": ["numpy", "--index-url=x"]})", "python_packages[1]", "settings"},
    {R"({"python_packages": ["./wheel.whl"]})", "python_packages[0]", "local_dirs"},
    {R"({"python_packages": ["x @ http://a/x.whl"]})", "python_packages[0]", "https"},
    {R"({"python_packages": ["a b"]})", "python_packages[0]", "numpy"},
    {R"({"python_packages": ["numpy", "numpy"]})", "python_packages[1]", "remove"},
    {R"({"python_packages": [7]})", "python_packages[0]", "quotes"},
    {R"({"system_packages": ["-o Evil=1"]})", "system_packages[0]", "git"},
    {R"({"system_packages": ["Git"]})", "system_packages[0]", "lower case"},
    {R"({"gpu": "A100:2"})", "gpu", "gpu_count"},
    {R"({"gpu": "A100", "gpu_count": 0})", "gpu_count", "from 1 to 16"},
    {R"({"gpu_count": 2})", "gpu_count", "gpu"},
    {R"({"cpu": -1})", "cpu", "processors"},
    {R"({"memory": "lots"})", "memory", "8 GiB"},
    {R"({"memory": "1 KiB"})", "memory", "64 MiB"},
    {R"({"disk": -5})", "disk", "16 MiB"},
    {R"({"timeout": 0})", "timeout", "seconds"},
    {R"({"timeout": "1h"})", "timeout", "whole number"},
    {R"({"timeout": 60, "idle_timeout": 61})", "idle_timeout", "at most 1 min"},
    {R"({"spend_cap": -1})", "spend_cap", "dollars"},
    {R"({"execution_mode": "gui"})", "execution_mode", "notebook"},
    {R"({"debug": 1})", "debug", "true or false"},
    {R"({"secrets": ["TOKEN=hunter2"]})", "secrets[0]", "only the name"},
    {R"({"secrets": ["LD_PRELOAD"]})", "secrets[0]", "env"},
    {R"({"secrets": ["A"], "env": {"A": "x"}})", "env.A", "one place"},
    {R"({"env": {"1A": "x"}})", "env.1A", "digit"},
    {R"({"env": {"A": 5}})", "env.A", "quotes"},
    {R"({"network": "some"})", "network", "off"},
    {R"({"network": []})", "network", "hosts"},
    {R"({"network": ["https://data.example.org/simple"]})", "network[0]", "only the host"},
    {R"({"network": "on", "scoped": true})", "network", "scoped"},
    {R"({"encrypted_ports": [70000]})", "encrypted_ports[0]", "65535"},
    {R"({"rpc_port": 8080, "debug_port": 8080})", "debug_port", "another port"},
    {R"({"jupyter_port": 0})", "jupyter_port", "port"},
    {R"({"rpc_timeout": 1.5})", "rpc_timeout", "whole number"},
    {R"({"models": [{"var_name": "m"}]})", "models[0].name", "google"},
    {R"({"models": ["../../etc"]})", "models[0]", "google"},
    {R"({"models": [{"name": "a/b", "is_peft": true}]})", "models[0].base_model", "adapter"},
    {R"({"models": [{"name": "a/b", "base_model": "c/d"}]})", "models[0].base_model", "is_peft"},
    {R"({"models": [{"name": "a/b", "var_name": "class"}]})", "models[0].var_name", "another name"},
    {R"({"models": ["a/b", "a/b"]})", "models[1].name", "remove"},
    {R"({"models": ["a/b-c", "a/b_c"]})", "models[1].name", "only one"},
    {R"({"models": [{"name": "a/b", "is_peft": true, "base_model": "c/d", "load_as_peft": true}]})",
        "models[0].load_as_peft", "remove"},
    {R"({"repos": ["http://example.org/a/b"]})", "repos[0]", "https"},
    {R"({"repos": ["--upload-pack=touch /tmp/x"]})", "repos[0]", "org/repo"},
    {R"({"repos": ["https://me:secret@example.org/a/b"]})", "repos[0]", "credentials"},
    {R"({"repos": [{"url": "a/b", "install": true}]})", "repos[0].install", "command"},
    {R"({"repos": ["a/x", "b/x"]})", "repos[1]", "another place"},
    {R"({"local_files": [["a"]]})", "local_files[0]", "local path"},
    {R"({"local_files": [["a", "b"]]})", "local_files[0].inside", "/workspace"},
    {R"({"local_files": [["a", "/workspace/../etc/passwd"]]})", "local_files[0].inside", "leads to"},
    {R"({"local_dirs": [["a", "/proc/x"]]})", "local_dirs[0].inside", "another one"},
    {R"({"local_dirs": [["a", "/w"], ["b", "/w"]]})", "local_dirs[1]", "another place"},
    {R"({"local_dirs": [{"local": "a", "inside": "/w", "mode": "rw"}]})", "local_dirs[0].mode", "read-only"},
};

} // namespace gb::test
