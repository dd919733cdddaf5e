import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { SmtpTerms } from '../src/mail/smtp.ts';

/** The server's behaviour: `drop` takes the whole mail and cuts the connection instead of an answer. */
type Behaviour = 'accept' | 'refuse' | 'busy' | 'hang' | 'drop';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  /** The headers, unfolded, in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly html: string;
}

/** A real SMTP server on loopback that behaves as told. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const received: ReceivedMail[] = [];
  const commands: string[] = [];
  const state: { behaviour: Behaviour } = { behaviour: 'accept' };
  const refusal = (code: number) => Object.assign(new Error('no'), { responseCode: code });
  const server = new SMTPServer({
    logger: false,
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 50,
    onMailFrom: (_address, _session, done) => {
      commands.push('MAIL FROM');
      if (state.behaviour !== 'hang') done();
    },
    onRcptTo: (_address, _session, done) => {
      if (state.behaviour === 'refuse') return done(refusal(550));
      done(state.behaviour === 'busy' ? refusal(451) : null);
    },
    onAuth: (_auth, _session, done) => {
      commands.push('AUTH');
      done(refusal(535));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        received.push(readMail(Buffer.concat(chunks).toString(), { from, to: rcptTo.map(({ address }) => address) }));
        if (state.behaviour !== 'drop') return done();
        for (const { _socket: socket } of server.connections) socket.destroy();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const terms: SmtpTerms = { host: '127.0.0.1', port, user: undefined, password: undefined, tls: 'none' };
  return {
    terms,
    received,
    commands,
    state,
    open: () => server.connections.size,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

function readMail(raw: string, envelope: Pick<ReceivedMail, 'from' | 'to'>): ReceivedMail {
  const headers = headersOf(raw);
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? [];
  const parts = raw.split(`--${boundary}`).slice(1);
  const bodyOf = (type: string) => {
    const part = parts.find((each) => headersOf(each.trimStart()).get('content-type')?.startsWith(type)) ?? '';
    return decoded(part.trimStart());
  };
  return { ...envelope, raw, headers, text: bodyOf('text/plain'), html: bodyOf('text/html') };
}

function headersOf(raw: string): Map<string, string> {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  return new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.replace(/^[^:]*:\s*/, '')]));
}

function decoded(part: string): string {
  const body = part.slice(part.indexOf('\r\n\r\n') + 4);
  const encoding = headersOf(part).get('content-transfer-encoding');
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** A header whose words are encoded (RFC 2047). */
export function headerText(value = ''): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('latin1')
        : text
            .replace(/_/g, ' ')
            .replace(/=([0-9A-F]{2})/gi, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    )
    .replace(/[\x80-\xff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString());
}
