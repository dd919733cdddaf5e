import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { parse, toClientConfig } from 'pg-connection-string';
import { hostUrls } from '../../domain/database-hosts.ts';
import { readServerCertificate, type ServerCertificate } from '../../runtime/server-certificate.ts';
import type { Timers } from '../../runtime/world.ts';

/** The message that asks PostgreSQL for TLS: its length, and the number that stands for this request. */
const ASK_FOR_TLS = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 'S'.charCodeAt(0);
const DEFAULT_PORT = 5432;

export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
  /** The checks of the certificate that the database URL demands. */
  readonly options: ConnectionOptions;
}

/** The hosts of a database URL, if the URL demands encryption. */
export function encryptedHosts(url: string): DatabaseHost[] {
  return hostUrls(url).flatMap((each) => {
    const { host, port, ssl } = toClientConfig(parse(each, { useLibpqCompat: true }));
    if (ssl === undefined || ssl === false || host === undefined || host.startsWith('/')) return [];
    return [{ host, port: port ?? DEFAULT_PORT, options: typeof ssl === 'object' ? ssl : {} }];
  });
}

/** Reads the certificate of a host. If the URL demands no check, the refusal of the certificate is left out. */
export async function readDatabaseCertificate(
  timers: Timers,
  { host, port, options }: DatabaseHost,
  timeoutMs: number,
): Promise<ServerCertificate> {
  const certificate = await readServerCertificate(timers, { host, port, options, timeoutMs, upgrade });
  return options.rejectUnauthorized === false ? { ...certificate, refusal: null } : certificate;
}

async function upgrade(socket: Socket): Promise<void> {
  socket.write(ASK_FOR_TLS);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer[0] !== YES) throw new Error('the server offers no TLS');
}
