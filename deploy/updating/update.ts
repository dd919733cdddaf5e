import { parseArgs } from 'node:util';
import { openInstallation, releaseAt } from './installation.ts';
import { runUpdate } from './run-update.ts';
import { failureLine } from './update-error.ts';

const USAGE = `deploy/update --to <folder>   replaces the release of all nodes on this machine, one after the other
deploy/update                 goes on with an update that was interrupted
deploy/update --back          ends an update that was interrupted, and goes back

  --settings <folder>    of till.env and node-<name>.env; otherwise /etc/till
  --restart <command>    with {node} for the name of a node; otherwise "systemctl restart till@{node}.service"
  --backup <command>     makes the backup in place of pg_dump, such as "pgbackrest --stanza=till backup"
  --ready-within <s>     until a node must take requests; otherwise 180
  --one-way              accepts migrations after which no older version can be started

TILL_ROOT names the folder that has releases/, nodes/ and backups/; otherwise /opt/till.
Exit codes: 0 all nodes run the new release, 1 they run the old one or something is to be mended, 2 wrong usage, 75 another update runs.
`;

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

/** `step` is a test's. */
export async function main(args: readonly string[], step?: (name: string) => void): Promise<number> {
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  const values = readArguments(args);
  if (values === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    const place = {
      home: process.env.TILL_ROOT ?? '/opt/till',
      settings: values.settings,
      restart: values.restart,
      backup: values.backup,
      readyWithinMs: Number(values['ready-within']) * 1_000,
    };
    const to = values.to === undefined ? undefined : await releaseAt(values.to);
    const deps = await openInstallation(place, { say, ...(step && { step }) });
    const isDone = await runUpdate(deps, { to, isBack: values.back, acceptsOneWay: values['one-way'] });
    return isDone ? 0 : 1;
  } catch (error) {
    const line = failureLine(error);
    if (line === undefined) throw error;
    process.stderr.write(`${line}\n`);
    return 1;
  }
}

function readArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        to: { type: 'string' },
        back: { type: 'boolean', default: false },
        settings: { type: 'string', default: '/etc/till' },
        restart: { type: 'string', default: 'systemctl restart till@{node}.service' },
        backup: { type: 'string' },
        'ready-within': { type: 'string', default: '180' },
        'one-way': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return /^\d{1,5}$/.test(values['ready-within']) ? values : undefined;
  } catch {
    return undefined;
  }
}
