import { askEndpoint } from '../actions/oversight/ask-endpoint.ts';
import { createEvmChain } from '../chains/evm/evm-chain.ts';
import { type NetworkInUse, relayersOf } from '../settings/chains.ts';
import { configuredNetworks, knownNetworks } from './chains.ts';
import { type Command, command, type Output } from './command.ts';
import type { Context } from './connect.ts';
import { layoutTable } from './table.ts';

interface EndpointReport {
  readonly network: string;
  readonly name: string;
  /** The position in RPC_URLS, from 1. The URL is not shown, because it may contain a key. */
  readonly endpoint: number;
  readonly state: 'up' | 'down';
  readonly head: number | null;
  readonly assets: readonly { readonly asset: string; readonly symbol: string; readonly isPayable: boolean }[];
  readonly problems: readonly string[];
}

const check = command({
  name: 'networks check',
  summary:
    'Compare every configured network with its chain, through each of its endpoints. Exit code 1 when a problem is found.',
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

export const networkCommands: readonly Command[] = [check, list];

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
  const verdict = problems.length === 0 ? 'No problems found.' : problems.join('\n');
  return { json: reports, text: `${table}\n\n${verdict}`, exitCode: problems.length === 0 ? 0 : 1 };
}

function symbols(assets: EndpointReport['assets'], isPayable: boolean): string {
  return assets.flatMap((asset) => (asset.isPayable === isPayable ? [asset.symbol] : [])).join(' ');
}

function checkNetwork(context: Context, inUse: NetworkInUse): Promise<EndpointReport[]> {
  const hasRelayer = relayersOf(context, inUse.network).length > 0;
  const missing = hasRelayer ? [] : ['No relayer is configured: RELAYER_KEYS has no key for it.'];
  return Promise.all(
    inUse.endpoints.map(async (url, index) => {
      const report = await checkEndpoint(context, inUse, url);
      return { ...report, endpoint: index + 1, problems: [...report.problems, ...(index === 0 ? missing : [])] };
    }),
  );
}

async function checkEndpoint(
  { world, log }: Context,
  { network }: NetworkInUse,
  url: string,
): Promise<Omit<EndpointReport, 'endpoint'>> {
  const chain = createEvmChain({ world, log, network, endpoints: [url] });
  const { state, head, payable, problems } = await askEndpoint({ world }, chain);
  const known = state === 'up' ? [...network.assets.values()].filter(({ pay }) => pay !== undefined) : [];
  const assets = known.map(({ id, symbol }) => ({ asset: id, symbol, isPayable: payable.includes(id) }));
  return { network: network.chainId, name: network.name, state, head: head?.number ?? null, assets, problems };
}
