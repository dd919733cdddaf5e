import { isMailable } from '../domain/mail.ts';
import type { Sender, SmtpTerms } from '../mail/smtp.ts';
import { type Kind, Problem, quote } from './kinds.ts';
import { secretsOfUrl } from './network-kinds.ts';

/** The terms of a mail server, with the URL from which they were read, so that logs can mask it. */
export interface SmtpSetting extends SmtpTerms {
  readonly url: string;
}

const FORM = 'must be a URL such as smtp://user:password@mail.example.com:587';
const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** The URL of a mail server. TLS is required, unless the server runs on this host or the URL has `?tls=optional`. */
export function smtpUrl(): Kind<SmtpSetting> {
  return {
    name: 'URL, such as `smtp://user:password@mail.example.com:587`',
    parse: (raw) => {
      const url = URL.parse(raw);
      if (url === null || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')) return new Problem(FORM);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const asked = url.searchParams.get('tls') ?? 'required';
      const isPlain = ['', '/'].includes(url.pathname) && [...url.searchParams.keys()].every((name) => name === 'tls');
      if (host === '' || !isPlain) return new Problem(FORM);
      if (asked !== 'required' && asked !== 'optional') return new Problem('must have required or optional as its tls');
      const [user, password] = [decoded(url.username), decoded(url.password)];
      if (user === undefined || password === undefined) return new Problem(FORM);
      const tls = url.protocol === 'smtps:' ? 'implicit' : isThisHost(host) ? 'none' : asked;
      const port = url.port === '' ? PORTS[url.protocol] : Number(url.port);
      return { url: raw, host, port, user: user || undefined, password: password || undefined, tls };
    },
    show: ({ url }) => url,
    secretsOf: ({ url }) => secretsOfUrl(url),
  };
}

/** Reads `Till <till@example.com>`, or the address alone. */
export function mailSender(): Kind<Sender> {
  return {
    name: 'address, such as `Till <till@example.com>`',
    parse: (raw) => {
      const [, name = '', bracketed] = /^([^<>"\p{Cc}]*)<([^<>]+)>$/u.exec(raw) ?? [];
      const address = bracketed ?? raw;
      return isMailable(address)
        ? { name: name.trim(), address }
        : new Problem('must be an e-mail address, such as Till <till@example.com>');
    },
    show: ({ name, address }) => (name === '' ? address : `${name} <${address}>`),
  };
}

const MAX_ADDRESSES = 10;

export function mailAddresses(): Kind<readonly string[]> {
  return {
    name: 'list of e-mail addresses',
    parse: (raw) => {
      const list = raw.split(',').map((item) => item.trim());
      const wrong = list.find((item) => !isMailable(item));
      if (wrong !== undefined) return new Problem(`must list e-mail addresses, and ${quote(wrong)} is none`);
      return list.length > MAX_ADDRESSES ? new Problem(`must list at most ${MAX_ADDRESSES} addresses`) : list;
    },
  };
}

function isThisHost(host: string): boolean {
  return /^(.*\.)?localhost$|^127\.\d+\.\d+\.\d+$|^::1$/.test(host);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
