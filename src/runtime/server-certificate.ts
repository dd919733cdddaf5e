import { connect as connectSocket, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { Timers } from './world.ts';

export interface ServerCertificate {
  readonly issuer: string;
  readonly from: Date;
  readonly until: Date;
  /**
   * The reason why a client with these options refuses the certificate, as an error code of Node.js. Null if it accepts the
   * certificate.
   */
  readonly refusal: string | null;
}

export interface CertificateAsk {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  /** The TLS options of the client, with its authorities and checks. */
  readonly options?: ConnectionOptions;
  /** Asks the server to begin TLS. Needed for protocols that begin in plain text, such as that of PostgreSQL. */
  readonly upgrade?: (socket: Socket) => Promise<void>;
}

/** Reads the certificate of a server, even one that clients refuse. No data is sent over the connection. */
export async function readServerCertificate(timers: Timers, ask: CertificateAsk): Promise<ServerCertificate> {
  const { host, port, timeoutMs, options = {}, upgrade } = ask;
  const plain = connectSocket({ host, port });
  const late = Promise.withResolvers<never>();
  const cancel = timers.after(timeoutMs, () => late.reject(new Error(`no answer within ${timeoutMs / 1_000} s`)));
  late.promise.catch(() => {});
  try {
    await Promise.race([happens(plain, 'connect'), late.promise]);
    if (upgrade !== undefined) await Promise.race([upgrade(plain), late.promise]);
    // The certificate is only read, so a bad one must not end the handshake.
    const secure = connectTls({ servername: serverNameOf(host), ...options, socket: plain, rejectUnauthorized: false });
    await Promise.race([happens(secure, 'secureConnect'), late.promise]);
    return read(secure);
  } finally {
    cancel();
    plain.destroy();
  }
}

/** The name to send in the handshake (SNI). Empty for an IP address. */
function serverNameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host;
}

/** Resolves at the event, and rejects if the connection fails or ends first. */
function happens(socket: Socket | TLSSocket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    // The listener stays, because a socket that is destroyed later may fail once more.
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) => reject(new Error(message || code)));
    socket.once('close', () => reject(new Error('the server closed the connection')));
  });
}

function read(secure: TLSSocket): ServerCertificate {
  const certificate: PeerCertificate = secure.getPeerCertificate();
  if (certificate.valid_to === undefined) throw new Error('the server shows no certificate');
  const { issuer, valid_from: from, valid_to: until } = certificate;
  const refusal = secure.authorized ? null : String(secure.authorizationError);
  const name = [issuer.O ?? issuer.CN ?? 'an unnamed issuer'].flat().join(' ');
  return { issuer: name, from: new Date(from), until: new Date(until), refusal };
}
