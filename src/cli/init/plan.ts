import { createLocalSigner } from '../../chains/evm/local-signer.ts';
import type { Registry } from '../../chains/registry.ts';
import { SETTINGS } from '../../settings/config.ts';
import {
  type ChangedText,
  changeEnvText,
  type EnvChange,
  type EnvValues,
  newEnvText,
} from '../../settings/env-file.ts';
import { Problem } from '../../settings/kinds.ts';
import { isAddress, type PerNetwork, signingKey } from '../../settings/network-kinds.ts';
import type { Setting } from '../../settings/setting.ts';
import { endpointsIn } from './answers-file.ts';
import { isSetting } from './question.ts';
import { type Answers, endpointsOf, listOf, NETWORKS, RPC } from './questions.ts';

/** Settings whose questions depend on other answers. If such a question was not asked, its setting is left unset. */
const DEPENDENT = ['TILL_SECRET', 'MAIL_FROM', 'ALERT_EMAILS'];

/** Converts answers to settings. The value is undefined for a setting that is left unset. */
export function settingsOf(answers: Answers, registry: Registry): EnvValues {
  const plain = Object.entries(answers).filter(([id]) => isSetting(id));
  const networks = listOf(answers[NETWORKS]);
  const endpoints = networks.map((chainId) => `${chainId}=${answers[endpointsOf(chainId)] ?? ''}`);
  const settings: Record<string, string | undefined> = {
    ...Object.fromEntries(DEPENDENT.map((env) => [env, undefined])),
    ...Object.fromEntries(plain.map(([env, value]) => [env, value === '' ? undefined : value])),
    ...(networks.length > 0 && { [RPC]: endpoints.join(' ') }),
  };
  const account = accountOf(answers.INTERMEDIATE_KEY ?? '', registry);
  return account === undefined ? settings : { ...settings, INTERMEDIATE_ACCOUNT: account };
}

/** The value of INTERMEDIATE_ACCOUNT: the account of INTERMEDIATE_KEY, on every network or on some. */
function accountOf(key: string, registry: Registry): string | undefined {
  const read = key === '' ? undefined : signingKey().parse(key, registry);
  if (read === undefined || read instanceof Problem) return undefined;
  return accountsText(read, addressOf);
}

export function addressOf(keyOrAddress: string): string {
  return isAddress(keyOrAddress) ? keyOrAddress : createLocalSigner(keyOrAddress).address;
}

function accountsText({ everywhere, on }: PerNetwork<string>, show: (key: string) => string): string {
  const some = [...on].map(([network, key]) => `${network}=${show(key)}`);
  return [...(everywhere === undefined ? [] : [show(everywhere)]), ...some].join(' ');
}

/** Converts the settings of a file to answers, as the reverse of `settingsOf`. */
export function answersOf(values: EnvValues, registry: Registry | null): Answers {
  const plain = Object.entries(values).flatMap(([env, value = '']) =>
    isSetting(env) ? [[env, value.trim()] as const] : [],
  );
  const endpoints = endpointsIn(values[RPC]?.trim() ?? '', registry);
  const chainIds = Object.keys(endpoints).map((id) => id.slice(RPC.length + 1));
  return {
    ...Object.fromEntries(plain.filter(([env]) => env !== RPC)),
    ...endpoints,
    ...(chainIds.length > 0 && { [NETWORKS]: chainIds.join(',') }),
  };
}

/** A setting whose value in the file differs from the answers. Secrets are shown as `***`. */
export interface Difference {
  readonly setting: string;
  readonly before: string;
  readonly after: string;
}

export interface Plan {
  readonly differences: readonly Difference[];
  /** True if the change replaces or removes a secret of the file, which may be the only copy of a key. */
  readonly losesSecret: boolean;
  readonly changed: ChangedText;
}

const HEAD = `# The settings of Till, written by \`till init\`. Run it again to change them, or change lines by hand: it keeps everything else of
# this file. Every further setting is in .env.example. This file has secrets: keep it private, and keep a copy elsewhere.`;

/**
 * Plans the changes that give the settings file the wanted values. `text` is the content of the file, or undefined if there is no
 * file yet.
 */
export function planOf(text: string | undefined, before: EnvValues, wanted: EnvValues): Plan {
  const settings = Object.values(SETTINGS) as Setting<unknown>[];
  const asked = settings.filter(({ env }) => env in wanted);
  const all: EnvChange[] = asked.map((setting) => ({ setting, value: wanted[setting.env] }));
  const changes = all.filter(({ setting: { env }, value }) => (before[env]?.trim() || undefined) !== value);
  return {
    differences: changes.map(({ setting, value }) => ({
      setting: setting.env,
      before: shown(setting, before[setting.env]),
      after: shown(setting, value),
    })),
    losesSecret: changes.some(
      ({ setting: { env, kind } }) => kind.secretsOf !== undefined && (before[env] ?? '') !== '',
    ),
    changed: text === undefined ? newEnvText(HEAD, all) : changeEnvText(text, changes),
  };
}

function shown({ kind }: Setting<unknown>, value: string | undefined): string {
  if (value === undefined || value === '') return 'not set';
  return kind.secretsOf ? '***' : value;
}
