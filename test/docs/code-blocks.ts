/** A block of code that a page shows, by its language. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

/** The fenced blocks of a page. Blocks without a language are output or drawings, and diagrams of commands. */
export function codeBlocksOf(text: string): CodeBlock[] {
  return [...text.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)].map(([, language = '', code = '']) => ({ language, code }));
}

interface Runs {
  /** The file of the test that runs these blocks, as they are or with other ports and addresses. */
  readonly by: string;
}
interface NotRun {
  /** The reason why no test runs these blocks. */
  readonly because: string;
}

const GUIDES = { by: 'test/e2e/guides.test.ts' };
/** `test/docs/commands.test.ts` parses each `npm run till` of the documentation, and knows each `npm run`. */
const PARSED = { by: 'test/docs/commands.test.ts' };

/** Who runs the blocks of code of each page. */
export const BLOCKS: Readonly<Record<string, Readonly<Record<string, Runs | NotRun>>>> = {
  'README.md': { sh: GUIDES, js: GUIDES },
  'CONTRIBUTING.md': { sh: PARSED },
  'sdk/README.md': { js: GUIDES },
  'docs/start.md': { sh: GUIDES, js: GUIDES, python: GUIDES, php: GUIDES },
  'docs/partners.md': { js: GUIDES },
  'docs/clients.md': { sh: PARSED, python: GUIDES, php: GUIDES },
  'docs/wallets.md': { bash: GUIDES, json: { because: 'the shape of an action, with its values left out' } },
  'docs/x402.md': {
    js: GUIDES,
    http: { because: 'the line of a request; test/e2e/x402.test.ts sends it' },
    ts: { because: 'the client of another project; test/e2e/x402-clients.test.ts pays by the same calls' },
  },
  'docs/webhooks.md': { js: GUIDES, sh: GUIDES },
  'docs/accepted-assets.md': { sh: GUIDES },
  'docs/branding.md': { sh: GUIDES },
  'docs/payment-links.md': { sh: GUIDES, html: { because: 'a link to a payment link' } },
  'docs/sandbox.md': { sh: GUIDES },
  'docs/deposit-addresses.md': {
    http: { because: 'the line of a request; test/e2e/deposit-address.test.ts sends it' },
  },
  'docs/events.md': { json: { because: 'the shape of an answer; openapi.json is checked on every answer' } },
  'docs/log.md': { json: { because: 'a line of the log, whose fields the page lists from their definitions' } },
  'docs/fees-and-settlement.md': {
    json: { because: 'the shape of an answer; openapi.json is checked on every answer' },
  },
  'docs/receipts.md': { json: { because: 'the shape of a receipt; test/e2e/receipts.test.ts reads one' } },
  'docs/dashboard.md': { sh: PARSED },
  'docs/payer-data.md': { sh: PARSED },
  'docs/secrets.md': { sh: PARSED },
  'docs/operating.md': {
    sh: PARSED,
    json: { because: 'answers for `till init`; test/e2e/from-empty-server.test.ts sets a gateway up by such a file' },
  },
  'docs/deploying.md': { sh: { by: 'test/deploy/guide.test.ts' } },
  'docs/external-signer.md': {
    sh: { because: 'a service that waits for requests; the tests of external signers start it' },
  },
  'docs/reliability.md': { sh: PARSED },
  'docs/contracts-mutants.md': { sh: PARSED },
  'docs/domain-mutants.md': { sh: PARSED },
};
