import { askEndpoint } from '../actions/oversight/ask-endpoint.ts';
import { acceptRecord } from '../actions/records/accept-record.ts';
import { type Difference, findDifferences, readMemory } from '../actions/records/differences.ts';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import { examineNetwork, openExamination } from '../chains/evm/examine-network.ts';
import { examineToken } from '../chains/evm/examine-token.ts';
import { familyOf } from '../chains/families.ts';
import { type NetworkInUse, relayersOf } from '../settings/chains.ts';
import { configuredNetworks, knownNetworks } from './chains.ts';
import { type Command, command, databaseCommand, type Output, operatorOf } from './command.ts';
import type { Context } from './connect.ts';
import { id } from './kinds.ts';
import { optional } from './options.ts';
import { domainsOf } from './record-commands.ts';
import { networkFindings, type RecordFinding, tokenFindings } from './record-findings.ts';
import { layoutTable } from './table.ts';

interface EndpointReport {
  readonly network: string;
  readonly name: string;
  /** The position of the endpoint in RPC_URLS, from 1. The URL is not shown, because it may contain a key. */
  readonly endpoint: number;
  readonly state: 'up' | 'down';
  readonly head: number | null;
  readonly assets: readonly { readonly asset: string; readonly symbol: string; readonly isPayable: boolean }[];
  readonly problems: readonly string[];
  /** Findings that need not be corrected. They are read from only one endpoint of each network. */
  readonly remarks: readonly string[];
}

const check = command({
  name: 'networks check',
  summary:
    'Compare the records of configured networks with their chains, and say what to do. Exit code 1 when a problem is found.',
  examples: ['networks check', 'networks check --json'],
  run: async (context) => {
    const networks = await configuredNetworks(context);
    const reports = (await Promise.all(networks.map((network) => checkNetwork(context, network)))).flat();
    return report(reports);
  },
});

const list = command({
  name: 'networks list',
  summary: 'Show every network that this gateway knows, with the file it comes from, and whether it is configured.',
  examples: ['networks list', 'networks list --json'],
  run: async (context) => {
    const { registry } = context.config;
    const inUse = new Set((await knownNetworks(context)).map(({ network }) => network.chainId));
    const networks = registry.networks.map(({ chainId, name, mode, coin, assets, finality }) => ({
      network: chainId,
      name,
      mode,
      coin: coin.symbol,
      tokens: [...assets.values()].filter(({ id }) => id !== coin.id).map(({ id, symbol }) => ({ asset: id, symbol })),
      takesPayments: finality !== undefined,
      isConfigured: inUse.has(chainId),
      file: registry.fileOf(chainId) ?? null,
    }));
    const text = layoutTable(networks, [
      { title: 'network', cell: ({ network }) => network },
      { title: 'name', cell: ({ name }) => name },
      { title: 'mode', cell: ({ mode }) => mode },
      { title: 'coin', cell: ({ coin }) => coin },
      { title: 'tokens', cell: ({ tokens }) => tokens.map(({ symbol }) => symbol).join(' ') },
      { title: 'configured', cell: ({ isConfigured }) => (isConfigured ? 'yes' : 'no') },
      { title: 'file', cell: ({ file }) => file },
    ]);
    return { json: networks, text };
  },
});

const accept = databaseCommand({
  name: 'networks accept',
  summary:
    'Show where files of networks differ from what the database remembers, or accept it. Exit code 1 if a difference is left.',
  positionals: {
    id: optional({ ...id, placeholder: 'caip2|caip19' }, 'The network or the token whose changes are accepted.'),
  },
  examples: ['networks accept', 'networks accept eip155:777777/erc20:0x5FbDB2315678afecb367f032d93F642f64180aa3'],
  run: async (deps, { id: subject }) => {
    const meanings = subject === undefined ? [] : await acceptRecord(deps, { subject, actor: operatorOf(deps.config) });
    const { sql } = deps.db;
    const left = await findDifferences(sql, deps.registry, await readMemory(sql));
    const text = [
      ...(subject === undefined ? [] : [`Accepted for ${subject}.`, ...meanings, ACCEPTED]),
      ...(left.length === 0 ? ['The files agree with what the database remembers.'] : left.flatMap(sentencesOf)),
    ].join('\n');
    return {
      json: { accepted: subject ?? null, meanings, differences: left },
      text,
      exitCode: left.length === 0 ? 0 : 1,
    };
  },
});

const ACCEPTED = 'Give every node the same files, and start the nodes again.';

function sentencesOf({ text, way, meaning }: Difference): string[] {
  return [`${text}. ${way}`, ...(meaning === undefined ? [] : [`  To accept it means: ${meaning}`])];
}

export const networkCommands: readonly Command[] = [check, list, accept];

function report(reports: readonly EndpointReport[]): Output {
  const table = layoutTable(reports, [
    { title: 'network', cell: ({ network }) => network },
    { title: 'name', cell: ({ name }) => name },
    { title: 'endpoint', cell: ({ endpoint }) => String(endpoint) },
    { title: 'state', cell: ({ state }) => state },
    { title: 'head', cell: ({ head }) => (head === null ? null : String(head)) },
    { title: 'payable', cell: ({ assets }) => symbols(assets, true) },
    { title: 'switched off', cell: ({ assets }) => symbols(assets, false) },
  ]);
  const problems = reports.flatMap(({ network, endpoint, problems: found }) =>
    found.map((problem) => `${network}, endpoint ${endpoint}: ${problem}`),
  );
  const remarks = reports.flatMap(({ network, remarks: found }) => found.map((text) => `${network}: ${text}`));
  const verdict = problems.length === 0 ? 'No problems found.' : problems.join('\n');
  const more = remarks.length === 0 ? '' : `\n\nRemarks:\n${remarks.join('\n')}`;
  return { json: reports, text: `${table}\n\n${verdict}${more}`, exitCode: problems.length === 0 ? 0 : 1 };
}

function symbols(assets: EndpointReport['assets'], isPayable: boolean): string {
  return assets.flatMap((asset) => (asset.isPayable === isPayable ? [asset.symbol] : [])).join(' ');
}

async function checkNetwork(context: Context, inUse: NetworkInUse): Promise<EndpointReport[]> {
  const hasRelayer = relayersOf(context, inUse.network).length > 0;
  const missing = hasRelayer ? [] : ['No relayer is configured: RELAYER_KEYS has no key for it.'];
  const reports = await Promise.all(inUse.endpoints.map((url) => checkEndpoint(context, inUse, url)));
  // The network's record is compared with the chain at one endpoint only, the first that works: all endpoints show the same chain.
  const asked = reports.findIndex(({ state }) => state === 'up');
  const findings = asked === -1 ? [] : await findingsAt(context, inUse, inUse.endpoints[asked] ?? '');
  return reports.map((report, index) => ({
    ...report,
    endpoint: index + 1,
    problems: [
      ...report.problems,
      ...(index === 0 ? missing : []),
      ...(index === asked ? textsOf(findings, true) : []),
    ],
    remarks: index === asked ? textsOf(findings, false) : [],
  }));
}

function textsOf(findings: readonly RecordFinding[], isProblem: boolean): string[] {
  return findings.filter((finding) => finding.isProblem === isProblem).map(({ text }) => text);
}

/** The number of tokens that are examined at the same time. */
const AT_ONCE = 10;

/** Examines the chain as `networks add` does, and compares the answers with the network's record. */
async function findingsAt(
  { world, config }: Context,
  { network }: NetworkInUse,
  url: string,
): Promise<RecordFinding[]> {
  const { registry } = config;
  const usualDomains = domainsOf(registry);
  const tokens = [...network.assets.values()].filter(({ id: asset }) => asset !== network.coin.id);
  const findings: RecordFinding[] = [];
  try {
    const examination = await openExamination(world, url);
    try {
      findings.push(...networkFindings(registry, network, await examineNetwork(examination)));
      for (let first = 0; first < tokens.length; first += AT_ONCE) {
        const some = tokens.slice(first, first + AT_ONCE);
        const found = await Promise.all(
          some.map(async (asset) => {
            const address = asset.id.slice(asset.id.lastIndexOf(':') + 1);
            return tokenFindings(registry, asset, await examineToken(world, examination, { address, usualDomains }));
          }),
        );
        findings.push(...found.flat());
      }
    } finally {
      examination.close();
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    findings.push({ isProblem: false, text: `Not everything was found out: ${error.message}. Run the command again.` });
  }
  return findings;
}

async function checkEndpoint(
  { world, log }: Context,
  { network }: NetworkInUse,
  url: string,
): Promise<Omit<EndpointReport, 'endpoint' | 'remarks'>> {
  const chain = familyOf(network.chainId).createChain({ world, log, network, endpoints: [url] });
  const { state, head, payable, problems } = await askEndpoint({ world }, chain);
  const known = state === 'up' ? [...network.assets.values()].filter(({ pay }) => pay !== undefined) : [];
  const assets = known.map(({ id, symbol }) => ({ asset: id, symbol, isPayable: payable.includes(id) }));
  return { network: network.chainId, name: network.name, state, head: head?.number ?? null, assets, problems };
}
