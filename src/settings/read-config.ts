import { resolve } from 'node:path';
import { readRegistry } from '../chains/registry.ts';
import { type Config, SETTINGS } from './config.ts';
import { contradictions, missingSettings } from './contradictions.ts';
import { type Kind, Problem, quote } from './kinds.ts';
import { refusedRisks } from './production-risks.ts';
import type { Setting } from './setting.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads all settings, or reports all problems at once. Settings name networks, so problems in the files of networks are reported
 * first, and alone.
 */
export function readConfig(environment: Environment): { config: Config } | { problems: string[] } {
  const folder = environment[SETTINGS.networksDir.env]?.trim() ?? '';
  const networks = readRegistry(folder === '' ? undefined : resolve(folder));
  if ('problems' in networks) return { problems: [...networks.problems] };
  const { registry } = networks;
  const problems: string[] = [];
  const values: Record<string, unknown> = { registry };
  for (const [name, { env, kind, default: fallback }] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    // An empty variable counts as not set, because compose files and CI systems cannot unset a variable.
    const raw = environment[env]?.trim() ?? '';
    const value = raw === '' ? fallback : kind.parse(raw, registry);
    if (value instanceof Problem)
      problems.push(`${env} ${value.text}${kind.secretsOf ? '' : ` (it is ${quote(raw)})`}`);
    else values[name] = value;
  }
  if (problems.length === 0) problems.push(...contradictions(values as unknown as Config));
  if (problems.length > 0) return { problems };
  values.publicUrl ??= `http://localhost:${values.port}`;
  values.home = resolve(values.home as string);
  return { config: values as Config };
}

/** Reads the settings for a start of the gateway. Operator commands need fewer settings: a database is enough. */
export function readStartConfig(environment: Environment): ReturnType<typeof readConfig> {
  const read = readConfig(environment);
  if ('problems' in read) return read;
  const problems = [...missingSettings(read.config), ...refusedRisks(read.config)];
  return problems.length === 0 ? read : { problems };
}

/** All settings and their values, with secrets shown as `***`. */
export function describeConfig(config: Config): { setting: string; value: string }[] {
  return Object.entries(SETTINGS).map(([name, { env, kind }]) => {
    const value = config[name as keyof Config];
    const { secretsOf, show = String } = kind as Kind<unknown>;
    return { setting: env, value: value === undefined ? '' : secretsOf ? '***' : show(value) };
  });
}

/** The settings whose values are not the defaults, with secrets shown as `***`. */
export function describeChanges(config: Config): { setting: string; value: string }[] {
  const defaults = readConfig({});
  if ('problems' in defaults) throw new Error('The defaults are invalid.');
  const usual = describeConfig(defaults.config);
  return describeConfig(config).filter(({ value }, index) => value !== usual[index]?.value);
}
