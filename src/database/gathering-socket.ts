import { Socket } from 'node:net';

/**
 * A socket that sends what is written in one turn of the event loop together. Statements of one request follow each other at
 * once (pipelining): they leave in one packet, and the database wakes up once for all of them.
 */
export function gatheringSocket(): Socket {
  const socket = new Socket();
  let gathering = false;
  const send = () => {
    gathering = false;
    socket.uncork();
  };
  // Not sooner: connecting puts the plain `write` back.
  socket.on('connect', () => {
    const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean;
    socket.write = (...sent: unknown[]) => {
      if (!gathering) {
        gathering = true;
        socket.cork();
        process.nextTick(send);
      }
      return write(...sent);
    };
  });
  return socket;
}
