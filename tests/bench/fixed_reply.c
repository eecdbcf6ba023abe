// SPDX-FileCopyrightText: The Glovebox authors
// SPDX-License-Identifier: Apache-2.0

// The least an HTTP server can do: one connection at a time, one read, one fixed reply. What bench_rpc
// measures the interface host against. Prints its port.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    static const char reply[] =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n"
        "{\"ok\": true, \"result\": 42}";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 16) != 0)
        return 1;
    getsockname(listener, (struct sockaddr*)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        char request[65536];
        const int on = 1;
        const int client = accept(listener, NULL, NULL);
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        while (recv(client, request, sizeof request, 0) > 0) {
            if (send(client, reply, sizeof reply - 1, MSG_NOSIGNAL) < 0)
                break;
        }
        close(client);
    }
}
