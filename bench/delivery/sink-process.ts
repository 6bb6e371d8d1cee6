import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';

/** A sink that takes everything, in a process of its own: `tcp` reads and closes after its client, `http` says 200. */
const server =
  process.argv[2] === 'tcp'
    ? createServer((socket) => void socket.on('error', () => undefined).resume())
    : createHttpServer((request, response) => {
        request.resume();
        request.on('end', () => response.end('{}'));
      });
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
