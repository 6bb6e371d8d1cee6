import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Data and events that neither end will ever receive. */
  forsaken: boolean;
}

/** A TCP proxy on loopback between the service and a server, which simulates network faults. */
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

  /** New connections lead to another server from now on; existing ones stay. */
  pointAt(port: number): void {
    this.#target = port;
  }

  /** Blocks all data in both directions, on existing and new connections; `flow` lets it pass again. */
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

  /** Blocks all data on existing connections permanently, without an error: as when a firewall drops its state. */
  forsake(): void {
    for (const pair of this.#pairs) {
      pair.forsaken = true;
      pair.client.pause();
      pair.server.pause();
    }
  }

  /** Delays all data by this much. */
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

  /** Tells the service that the server sends no more data; tells the server nothing. */
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
