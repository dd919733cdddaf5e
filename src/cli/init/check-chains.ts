import { askNetworks, clocksOf, networksOf } from '../../actions/oversight/doctor/examine-networks.ts';
import type { Chain } from '../../chains/chain.ts';
import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { ChainReader } from '../../chains/chain-reader.ts';
import { familyOf } from '../../chains/families.ts';
import type { Network } from '../../chains/network.ts';
import { type Finding, warning } from '../../domain/doctor/diagnosis.ts';
import type { AccountFacts } from '../../domain/doctor/facts.ts';
import { judgeAccounts, judgeClocks, judgeNetworks } from '../../domain/doctor/judge-outside.ts';
import { SANDBOX_NETWORK } from '../../sandbox/sandbox-network.ts';
import { minBalanceOn } from '../../settings/chains.ts';
import { Problem } from '../../settings/kinds.ts';
import { type PerNetwork, relayerKeys, signingKey, valueOn } from '../../settings/network-kinds.ts';
import { type Check, type CheckInput, checked, configOf } from './check.ts';
import { addressOf } from './plan.ts';
import { endpointsOf, listOf, NETWORKS, RPC } from './questions.ts';

const SIGNER_WITHIN_MS = 5_000;

/** Checks that every endpoint answers, and that it belongs to the network for which it is named. */
export const checkEndpoints: Check = async (input) => {
  const { context, registry, question, seen } = input;
  const chainId = question.id.slice(RPC.length + 1);
  const network = registry.network(chainId);
  if (network === undefined) return checked([]);
  const { world, log } = context;
  const endpoints = listOf(input.answers[question.id]).map((url) => () => {
    return familyOf(network.chainId).createChain({ world, log, network, endpoints: [url] });
  });
  const configured = { network, isSandbox: chainId === SANDBOX_NETWORK, endpoints };
  const asked = await askNetworks({ world, networks: { known: [configured] } });
  const offMs = seen.machineOffMs === undefined ? { unknown: 'not asked' } : { known: seen.machineOffMs };
  // The cursors of watchers are not read: they are in the database, which is the subject of another question.
  const networks = await networksOf(asked, { read: async () => ({ unknown: 'not asked' }), offMs });
  const clocks = await clocksOf(networks, { known: 0 });
  const known = 'known' in networks ? networks.known : [];
  const { facts, findings } = judgeNetworks(known);
  const heads = 'known' in clocks ? judgeClocks(clocks.known).findings : [];
  const isRefused = known.some((each) => each.endpoints.some(({ isUp }) => !isUp));
  const first = findings.filter(({ level }) => level === 'fault' || level === 'warning');
  const said = facts.filter(({ name }) => !name.endsWith('watcher')).map(({ name, value }) => `${name}: ${value}`);
  return { ...checked([...first, ...heads], isRefused ? [] : said), isRefused };
};

/** Shows the addresses of the relayers and their coin balances. A balance of zero is only a warning: the operator may send coin later. */
export const checkRelayers: Check = async (input) => {
  const keys = relayerKeys().parse(input.answers.RELAYER_KEYS ?? '', input.registry);
  if (keys instanceof Problem) return checked([]);
  const accounts = await onNetworks(input, (network, chain) =>
    Promise.all((valueOn(keys, network) ?? []).map((key) => factsOf(chain.reader, 'relayer', addressOf(key)))),
  );
  return withBalances(accounts.flat());
};

export const checkIntermediate: Check = async (input) => {
  const key = input.answers.INTERMEDIATE_KEY ?? '';
  const read: PerNetwork<string> | Problem = key === '' ? new Problem('') : signingKey().parse(key, input.registry);
  if (read instanceof Problem) return checked([]);
  const accounts = await onNetworks(input, async (network, chain) => {
    const own = valueOn(read, network);
    return own === undefined ? [] : [await factsOf(chain.reader, 'intermediate account', addressOf(own))];
  });
  return withBalances(accounts.flat());
};

/**
 * Checks that the external signer answers an HTTP request. Any answer will do: a test signature is impossible, because a signer
 * may refuse to sign anything but a transaction.
 */
export const checkSigner: Check = async ({ context: { world }, answers }) => {
  const url = answers.EXTERNAL_SIGNER_URL ?? '';
  if (url === '') return checked([]);
  const late = new AbortController();
  const cancel = world.timers.after(SIGNER_WITHIN_MS, () => late.abort());
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: late.signal });
    await answer.body?.cancel();
    return checked([], ['The external signer answers. The first transaction shows whether it has the keys.']);
  } catch {
    const message = 'The external signer does not answer.';
    return checked([warning(message, 'Start it, and see that this machine reaches it: docs/external-signer.md.')]);
  } finally {
    cancel();
  }
};

function withBalances(accounts: readonly AccountFacts[]) {
  const { facts, findings } = judgeAccounts(accounts);
  const kept = findings.map((finding): Finding => {
    return finding.level === 'fault' ? { ...finding, level: 'warning' } : finding;
  });
  return checked(
    kept,
    facts.map(({ name, value }) => `${name}: ${value}`),
  );
}

async function factsOf(reader: ChainReader, kind: AccountFacts['kind'], address: string): Promise<AccountFacts> {
  const { chainId: network } = reader.network;
  const balance = await reader.balance(address).catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return null;
    throw error;
  });
  const config = configOf({});
  const minBalance = config === undefined || kind !== 'relayer' ? null : minBalanceOn(config, network);
  return { network, address, kind, balance, minBalance, spentPerDay: 0n, inFlight: null };
}

async function onNetworks<T>(
  { context: { world, log }, answers, registry }: CheckInput,
  work: (chainId: string, chain: Chain) => Promise<T>,
): Promise<T[]> {
  const networks = listOf(answers[NETWORKS]).flatMap((chainId): Network[] => {
    const network = registry.network(chainId);
    return network === undefined ? [] : [network];
  });
  return Promise.all(
    networks.map(async (network) => {
      const endpoints = listOf(answers[endpointsOf(network.chainId)]);
      const chain = familyOf(network.chainId).createChain({ world, log, network, endpoints });
      try {
        return await work(network.chainId, chain);
      } finally {
        chain.close();
      }
    }),
  );
}
