// A server on this machine's own address that no page may call: it keeps what it hears.
"use strict";
const http = require("node:http");
const net = require("node:net");

class Server {
  // Listens on a free port.
  static async start() {
    const server = new Server();
    await new Promise((resolve) => {
      server.net.listen(0, "127.0.0.1", resolve);
    });
    server.port = server.net.address().port;
    server.address = `http://127.0.0.1:${server.port}`;
    return server;
  }

  constructor() {
    this.heard = [];  // paths, or "a connection" as long as there is no more
    this.open = new Set();
    this.http = http.createServer((request, response) => {
      this.heard.push(request.url);
      response.writeHead(200, {"Access-Control-Allow-Origin": "*"}).end("heard");
    });
    this.http.on("upgrade", (request, socket) => {  // a WebSocket
      this.heard.push(request.url);
      socket.destroy();
    });
    this.net = net.createServer((socket) => {
      this.heard.push("a connection");
      this.open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.open.delete(socket));
      this.http.emit("connection", socket);
    });
  }

  paths() {
    return this.heard.filter((path) => path.startsWith("/"));
  }

  async close() {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => {
      this.net.close(resolve);
    });
  }
}

module.exports = {Server};
