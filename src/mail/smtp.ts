import { connect } from 'node:net';
import { createTransport } from 'nodemailer';
import type { World } from '../runtime/world.ts';
import type { Letter } from './letter.ts';

/** The outcome of one attempt. An unknown outcome counts as failed: the mail is sent again with the same Message-ID. */
export type MailOutcome =
  | { readonly is: 'sent' }
  | { readonly is: 'refused'; readonly problem: string }
  | { readonly is: 'failed'; readonly problem: string };

export interface Mailer {
  send(mail: OutgoingMail, signal: AbortSignal): Promise<MailOutcome>;
}

export interface OutgoingMail extends Letter {
  readonly id: string;
  readonly recipient: string;
  readonly at: Date;
}

export interface SmtpTerms {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** `implicit`: TLS from the first byte. `required`: STARTTLS, or the mail is not sent. `optional`: STARTTLS if it is offered. */
  readonly tls: 'implicit' | 'required' | 'optional' | 'none';
}

export interface Sender {
  readonly name: string;
  readonly address: string;
}

const CONNECT_MS = 10_000;
/** The longest time without a byte from the server. */
const SILENCE_MS = 20_000;
/** The bound for a whole attempt. A server that sends a byte now and then never reaches `SILENCE_MS`. */
export const ATTEMPT_MS = 40_000;

/** Sends mail by SMTP, one connection for each mail. */
export function createMailer({ timers }: Pick<World, 'timers'>, terms: SmtpTerms, sender: Sender): Mailer {
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  return {
    async send({ id, recipient, at, subject, text, html }, signal) {
      const cut = new AbortController();
      const stop = () => cut.abort();
      const cancel = timers.after(ATTEMPT_MS, stop);
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      try {
        const sending = openTransport(terms, cut.signal).sendMail({
          from: sender,
          to: { name: '', address: recipient },
          envelope: { from: sender.address, to: [recipient] },
          subject,
          text,
          html,
          date: at,
          // The same id at every attempt, so that mail programs can recognise a second copy.
          messageId: `<${id}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        });
        await Promise.race([sending, failWhenCut(cut.signal)]);
        return { is: 'sent' };
      } catch (error) {
        return cut.signal.aborted ? { is: 'failed', problem: 'The server did not finish in time.' } : judge(error);
      } finally {
        cancel();
        signal.removeEventListener('abort', stop);
        cut.abort();
      }
    },
  };
}

/** Tests a mail server: connects, begins TLS and signs in as for a mail, but sends none. */
export async function tryMailServer(
  { timers }: Pick<World, 'timers'>,
  terms: SmtpTerms,
): Promise<{ readonly problem: string } | undefined> {
  const cut = new AbortController();
  const cancel = timers.after(ATTEMPT_MS, () => cut.abort());
  try {
    await Promise.race([openTransport(terms, cut.signal).verify(), failWhenCut(cut.signal)]);
    return undefined;
  } catch (error) {
    const outcome = judge(error);
    if (cut.signal.aborted) return { problem: 'The server did not finish in time.' };
    return { problem: 'problem' in outcome ? outcome.problem : 'The server could not be used' };
  } finally {
    cancel();
    cut.abort();
  }
}

function openTransport({ host, port, user, password, tls }: SmtpTerms, signal: AbortSignal) {
  return createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A mail's content must not make nodemailer read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
    // The socket is opened here instead of by nodemailer, so that it can be closed when the signal aborts.
    getSocket(_options, callback) {
      const socket = connect({ host, port, timeout: CONNECT_MS });
      const end = (error: Error) => {
        socket.destroy();
        callback(error);
      };
      signal.addEventListener('abort', () => socket.destroy());
      socket.once('error', end);
      socket.once('timeout', () => end(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })));
      socket.once('connect', () => {
        socket.removeListener('error', end);
        socket.removeAllListeners('timeout');
        socket.setTimeout(0);
        // The transport listens for errors only part of the time. An error without a listener would end the process.
        socket.on('error', () => {});
        callback(null, { connection: socket });
      });
    },
  });
}

function failWhenCut(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(new Error('cut'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail);
  });
}

/**
 * The outcome of a failed attempt, with the step and the codes of the failure. The server's own text is left out: it can contain an
 * address or a password.
 */
function judge(error: unknown): MailOutcome {
  const { code = 'unknown', responseCode, command, response = '' } = error as Record<string, string | undefined>;
  const status = Number(responseCode);
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response))?.[1];
  const parts = [code, command, responseCode, enhanced].filter((part) => part !== undefined && part !== '');
  const problem = `The server could not be used: ${parts.join(' ')}`.slice(0, 200);
  const isRefused = code === 'EENVELOPE' && command === 'RCPT TO' && status >= 500 && status < 600;
  return isRefused
    ? { is: 'refused', problem: `The server refuses the recipient: ${parts.join(' ')}` }
    : { is: 'failed', problem };
}
