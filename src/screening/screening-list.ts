import { createHash } from 'node:crypto';
import { bareListKey, isNamespace, listKeysOf, withoutChecksum } from '../domain/addresses/families.ts';
import { parseAccount } from '../domain/caip.ts';
import type { Parsed } from '../domain/parsed.ts';
import type { ListIdentity, Screening } from './screening.ts';

/**
 * A list of accounts, one on each line: a CAIP-10 account, or an EVM address alone, which means that address on every EVM network.
 * `#` begins a comment. Comments before the first account give the list's version and date, and optionally its number of accounts,
 * by which a truncated file is noticed:
 *
 *     # version: sdn-2026-03-01
 *     # date: 2026-03-01
 *     # accounts: 2
 *     0x1111111111111111111111111111111111111111   # every EVM network
 *     solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:4Nd1mYxQ7ZbK9tUuVwXyZaBcDeFgHjKmNpQrStUvWxY1
 *
 * One unreadable line makes the whole list unusable: an account that was left out would pass the screening.
 */
export interface ScreeningList extends Screening {
  readonly identity: ListIdentity;
}

/** The most accounts of a list. Parsing this many blocks the event loop for half a second. */
const MAX_ACCOUNTS = 250_000;
const MAX_LINE = 1_000;

/** Parses a list. In messages, the text of a problem follows the words "The screening list". */
export function parseScreeningList(bytes: Uint8Array): Parsed<ScreeningList> {
  const header = new Map<string, string>();
  const listed = new Set<string>();
  let accounts = 0;
  // The decoder drops the byte order mark that some text editors write.
  const lines = new TextDecoder().decode(bytes).split('\n');
  for (const [index, line] of lines.entries()) {
    const place = `in line ${index + 1}`;
    if (line.length > MAX_LINE) return refuse(`has more than ${MAX_LINE} characters ${place}`);
    const [entry, comment] = splitLine(line);
    if (entry === '') {
      if (accounts === 0) noteHeader(header, comment);
      continue;
    }
    const key = readEntry(entry);
    if (key === undefined) return refuse(`has neither a CAIP-10 account nor an EVM address ${place}`);
    accounts += 1;
    if (accounts > MAX_ACCOUNTS) return refuse(`has more than ${MAX_ACCOUNTS} accounts`);
    listed.add(key);
  }

  const [version = '', date = '', count = String(accounts)] = HEADER.map((name) => header.get(name));
  if (!/^[ -~]{1,100}$/.test(version)) return refuse('must name its version at the top: # version: …');
  if (!isDay(date)) return refuse('must name its day at the top: # date: 2026-03-01');
  if (count !== String(accounts)) return refuse(`says it has ${count.slice(0, 20)} accounts and has ${accounts}`);
  if (accounts === 0) return refuse('has no account; to screen nothing, set no list');

  const identity = { hash: createHash('sha256').update(bytes).digest('hex'), version, date };
  const isListed = (account: string) => listKeysOf(account).some((key) => listed.has(key));
  return {
    ok: true,
    value: { identity, decide: (asked) => ({ hits: asked.filter(isListed), list: identity }) },
  };
}

const HEADER = ['version', 'date', 'accounts'] as const;

function splitLine(line: string): readonly [entry: string, comment: string] {
  const at = line.indexOf('#');
  return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** Keeps the header of a comment line, if the line has one. A repeated header is ignored. */
function noteHeader(header: Map<string, string>, comment: string): void {
  const [, name = '', value = ''] = /^(\w+):\s*(.*)$/.exec(comment) ?? [];
  if (HEADER.some((known) => known === name) && !header.has(name)) header.set(name, value);
}

/** The form of a CAIP-10 account. An account on an unsupported chain has a valid form, and never matches a payer. */
const ACCOUNT = /^([-a-z0-9]{3,8}):[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}$/;

/** The lookup key of an entry. Undefined if the entry is not an account. */
function readEntry(entry: string): string | undefined {
  const bare = bareListKey(entry);
  if (bare !== undefined) return bare;
  const [, namespace] = ACCOUNT.exec(entry) ?? [];
  if (namespace !== undefined && !isNamespace(namespace)) return entry;
  const account = parseAccount(withoutChecksum(entry));
  return account.ok ? listKeysOf(account.value.id)[0] : undefined;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

const refuse = (problem: string): Parsed<never> => ({ ok: false, problem });
