import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What neither end will ever hear of again. */
  forsaken: boolean;
}

/** A TCP proxy on loopback between the service and a server, which misbehaves as networks do. */
export class Proxy {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();
  #target: number;
  #stalled = false;
  #delayMs = 0;

  private constructor(listener: Server, target: number) {
    this.#listener = listener;
    this.#target = target;
  }

  static async to(target: number): Promise<Proxy> {
    const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const proxy = new Proxy(listener, target);
    listener.on('connection', (client) => proxy.#accept(client));
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** New connections lead to another server from now on; those that there are stay where they are. */
  pointAt(port: number): void {
    this.#target = port;
  }

  /** Nothing gets through any more, in either direction, on old and new connections alike; `flow` lets it. */
  stall(): void {
    this.#stalled = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  flow(): void {
    this.#stalled = false;
    for (const { client, server, forsaken } of this.#pairs) {
      if (forsaken) continue;
      client.resume();
      server.resume();
    }
  }

  /** Nothing gets through on the connections that there are, ever, and neither end is told: as when a firewall forgets them. */
  forsake(): void {
    for (const pair of this.#pairs) {
      pair.forsaken = true;
      pair.client.pause();
      pair.server.pause();
    }
  }

  /** Everything arrives this much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Both ends of all connections get an RST. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /** The service is told that the server says nothing more; the server is not told anything. */
  halfClose(): void {
    for (const pair of this.#pairs) {
      pair.forsaken = true;
      pair.server.pause();
      pair.client.end();
    }
  }

  async close(): Promise<void> {
    this.#listener.close();
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    await once(this.#listener, 'close');
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true });
    const pair: Pair = { client, server, forsaken: false };
    this.#pairs.add(pair);
    const drop = () => {
      client.destroy();
      server.destroy();
      this.#pairs.delete(pair);
    };
    this.#carry(pair, client, server);
    this.#carry(pair, server, client);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', drop);
    }
    if (this.#stalled) server.pause();
    else client.resume();
  }

  #carry(pair: Pair, from: Socket, to: Socket): void {
    const later = (act: () => void) => (this.#delayMs > 0 ? setTimeout(act, this.#delayMs) : act());
    from.on('data', (chunk: Buffer) => later(() => !pair.forsaken && to.writable && to.write(chunk)));
    from.on('end', () => later(() => !pair.forsaken && to.end()));
  }
}
