import { Socket } from 'node:net';

interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/**
 * Connects for the driver, with sockets whose end comes in one piece. Node tells of a broken socket in two steps, an
 * error and, a moment later, the close. A query that the driver sends in between is never answered, and from then on its
 * connection neither works nor ends. Here the driver hears of both at once.
 */
export function driverSockets({ timeoutMs }: { timeoutMs: number }): (target: Target) => Promise<Socket> {
  let attempts = 0;
  return ({ host, port, path }) => {
    const socket = new Socket();
    const tell = socket.emit.bind(socket) as (event: string, ...details: unknown[]) => boolean;
    let failure: unknown;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      if (failure !== undefined) tell('error', failure);
      tell('close', failure !== undefined);
    };
    return new Promise((resolve) => {
      // The driver takes what it is given for connected. One that is not ends as soon as the driver speaks to it.
      let onClose = () => {
        socket.write = () => {
          process.nextTick(end);
          return false;
        };
        resolve(socket);
      };
      socket.emit = (event: string | symbol, ...details: unknown[]) => {
        if (event === 'error') failure ??= details[0];
        else if (event === 'close') onClose();
        else return tell(String(event), ...details);
        return true;
      };
      socket.setTimeout(timeoutMs, () => socket.destroy(connectTimeout()));
      socket.once('connect', () => {
        socket.setTimeout(0);
        onClose = end;
        resolve(socket);
      });
      const next = attempts % host.length;
      attempts += 1;
      if (path) socket.connect(path);
      else socket.connect(port[next] ?? 5432, host[next] ?? 'localhost');
    });
  };
}

function connectTimeout(): Error {
  return Object.assign(new Error('The database did not take the connection in time.'), { code: 'CONNECT_TIMEOUT' });
}
