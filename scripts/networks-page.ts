import type { Network, PayTerms } from '../src/chains/network.ts';
import { builtInRegistry } from '../src/chains/registry.ts';
import type { Mode } from '../src/domain/mode.ts';

/** `docs/networks.md`: the networks and assets of payments. */
export function networksPage(): string {
  const { networks } = builtInRegistry();
  const payable = networks.filter(({ finality }) => finality !== undefined);
  const others = networks.filter(({ finality }) => finality === undefined);
  const rows = (mode: Mode) => payable.filter((network) => network.mode === mode).map(networkRow);
  return `# Networks and tokens

Payments can be made on these networks, where the operator has configured them (\`RPC_URLS\`). A payment has succeeded when it lies
as deep as the table says, its own block counted; operators may ask for more (\`FINALITY_DEPTHS\`).

| network | id | block every | depth | succeeds after about | why that is enough |
|---|---|---|---|---|---|
${rows('live').join('\n')}

Test networks carry play money, and belong to test keys.

| network | id | block every | depth | succeeds after about | why that is enough |
|---|---|---|---|---|---|
${rows('test').join('\n')}

## Tokens

The id is what \`asset\` of a settlement destination takes, and what \`amount.unit\` takes after \`caip19/\`. How the payer pays:

- **one signature**: the payer signs once and needs no coin for gas.
- **one signature, after a one-time approval**: as above, once the token has been approved for Permit2, which is a transaction of the
  payer's and needs coin for gas.
- **a transaction**: the payer sends coin, and pays for its gas.

Tokens at par are quoted one to one in that currency; all others need a rate (\`RATES\`, \`RATE_SOURCES\`).
${payable.map(tokenTable).join('')}
## Known, and not paid with yet

Prices and settlement destinations may name assets of these networks; payments are not offered there.

${others.map((network) => `- ${network.name}, \`${network.chainId}\`: ${symbolsOf(network)}`).join('\n')}

This page is generated from the files of \`networks/\`.
`;
}

function networkRow({ name, chainId, finality }: Network): string {
  const { blockTimeMs, depth, reason } = finality ?? { blockTimeMs: 0, depth: 0, reason: '' };
  const seconds = Math.ceil((blockTimeMs * depth) / 1000);
  return `| ${name} | \`${chainId}\` | ${blockTimeMs / 1000} s | ${depth} | ${seconds} s | ${reason} |`;
}

function tokenTable({ name, assets }: Network): string {
  const rows = [...assets.values()].map(
    ({ id, symbol, name: title, decimals, peg, pay }) =>
      `| ${symbol} | ${title} | ${decimals} | ${peg ?? '-'} | ${pay === undefined ? '-' : WAYS[pay.method]} | \`${id}\` |`,
  );
  if (rows.length === 0) return `\n### ${name}\n\nNo token is listed yet.\n`;
  return `
### ${name}

| token | name | decimals | at par with | the payer gives | id |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

const WAYS: Readonly<Record<PayTerms['method'], string>> = {
  'eip3009-bytes': 'one signature',
  'eip3009-vrs': 'one signature',
  permit2: 'one signature, after a one-time approval',
  native: 'a transaction',
};

function symbolsOf({ assets }: Network): string {
  return [...assets.values()].map(({ symbol }) => symbol).join(', ') || 'none';
}
