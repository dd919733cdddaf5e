import { readState, removeState, type UpdateState, writeState } from './state.ts';
import { UpdateError } from './update-error.ts';

/** What an update works on. Tests put machines of their own in its place. */
export interface UpdateDeps {
  /** The folder of `update.json`. */
  readonly home: string;
  readonly nodes: readonly string[];
  readonly releases: {
    /** The folder of the release that the node starts next. */
    of(node: string): Promise<string>;
    point(node: string, release: string): Promise<void>;
    /** The version that `/health` of its nodes names. */
    version(release: string): Promise<string>;
    /** The migrations of a release, in order. */
    migrations(release: string): Promise<readonly string[]>;
  };
  readonly database: {
    /** Returns the file. A part of an earlier try is removed. */
    backUp(): Promise<string>;
    /** Migrates a copy of the schema, and removes that copy and any earlier one. */
    rehearse(release: string): Promise<void>;
    migrate(release: string): Promise<void>;
  };
  /** Lets older versions start on the schema up to this migration, or undoes that. */
  acceptSchema(newest: string | undefined): Promise<void>;
  restart(node: string): Promise<void>;
  /** Waits until the node takes requests with this release. Returns the reason if it does not. */
  waitUntilServing(node: string, release: string): Promise<string | undefined>;
  isServing(node: string, release: string): Promise<boolean>;
  say(text: string): void;
  /** Called between any two effects: a test ends the process there. */
  step(name: string): Promise<void> | void;
}

export interface UpdateOrder {
  /** The folder of a release; undefined: go on with the update that is under way. */
  readonly to: string | undefined;
  /** Go back to the release from before the update that is under way. */
  readonly isBack: boolean;
  /** The operator accepts that no older version can be started again. */
  readonly acceptsOneWay: boolean;
}

const ONE_WAY = /^\d{4}_one_way_/;

/**
 * Replaces the release of node after node. Every step can be interrupted: the next run reads the state and the nodes, and goes on. A
 * node that does not become ready sends all nodes back. Resolves to true if all nodes run the new release.
 */
export async function runUpdate(deps: UpdateDeps, order: UpdateOrder): Promise<boolean> {
  const begun = await readState(deps.home);
  const state = begun === undefined ? await begin(deps, order) : await resume(deps, order, begun);
  if (state === undefined) return true;
  return state.direction === 'back' ? goBack(deps, state) : goForward(deps, state);
}

async function begin(deps: UpdateDeps, { to, isBack, acceptsOneWay }: UpdateOrder): Promise<UpdateState | undefined> {
  if (isBack) throw new UpdateError('No update is under way. Name the older release with --to to go back to it.');
  if (to === undefined) throw new UpdateError('Name the folder of the new release: --to /opt/till/releases/0.3.0.');
  const releases = await Promise.all(deps.nodes.map(deps.releases.of));
  const [from] = releases;
  if (from === undefined) throw new UpdateError('There are no nodes.');
  if (releases.some((release) => release !== from)) {
    const list = deps.nodes.map((node, index) => `${node}: ${releases[index]}`).join(', ');
    throw new UpdateError(
      `The nodes have different releases, and no update is under way (${list}). Let all have one first.`,
    );
  }
  for (const node of deps.nodes) {
    // A busy machine may answer late: one look would refuse a node that is well.
    const problem = await deps.waitUntilServing(node, from);
    if (problem === undefined) continue;
    throw new UpdateError(
      `Node ${node} is not ready before the update: ${problem} Mend it first. \`till doctor\` says what it lacks.`,
    );
  }
  if (from === to) {
    deps.say(`All nodes run ${to} already.`);
    return undefined;
  }
  const version = await deps.releases.version(to);
  if (version === (await deps.releases.version(from))) {
    throw new UpdateError(`${from} and ${to} both are version ${version}: a node could not say which of them it runs.`);
  }
  const [older, newer] = await bothMigrations(deps, { from, to });
  const oneWay = newer.slice(older.length).find((name) => ONE_WAY.test(name));
  if (older.some((name, index) => name !== newer[index])) {
    throw new UpdateError(
      `The releases ${from} and ${to} have different migrations of one number: one is not made from the other.`,
    );
  }
  if (oneWay !== undefined && (await isDowngrade(deps, { from, to }))) {
    throw new UpdateError(`${to} cannot run after the migration ${oneWay}: restore a backup from before it instead.`);
  }
  if (oneWay !== undefined && !acceptsOneWay) {
    throw new UpdateError(
      `After the migration ${oneWay} there is no way back but a backup. Add --one-way to accept that.`,
    );
  }
  const state: UpdateState = { from, to, direction: 'forward' };
  await writeState(deps.home, state);
  await deps.step('begun');
  return state;
}

async function resume(deps: UpdateDeps, { to, isBack }: UpdateOrder, state: UpdateState): Promise<UpdateState> {
  if (to !== undefined && to !== state.to) {
    throw new UpdateError(`An update to ${state.to} is under way: run it again without --to, or end it with --back.`);
  }
  deps.say(
    `Going on with the update from ${state.from} to ${state.to}${state.direction === 'back' ? ', backwards' : ''}.`,
  );
  if (!isBack || state.direction === 'back') return state;
  const back: UpdateState = { ...state, direction: 'back', reason: 'The operator asked for it.' };
  await writeState(deps.home, back);
  return back;
}

async function goForward(deps: UpdateDeps, begun: UpdateState): Promise<boolean> {
  const state = await prepare(deps, begun);
  for (const node of deps.nodes) {
    const problem = await replace(deps, node, state.to);
    if (problem === undefined) continue;
    const back: UpdateState = {
      ...state,
      direction: 'back',
      reason: `Node ${node} is not ready with ${state.to}: ${problem}`,
    };
    await writeState(deps.home, back);
    await deps.step('turned back');
    return goBack(deps, back);
  }
  if (!(await isDowngrade(deps, state))) {
    await deps.acceptSchema(undefined);
    await deps.step('schema no longer accepted');
  }
  await removeState(deps.home);
  deps.say(
    `All nodes run ${state.to}. The backup from before the update: ${state.backup || 'made by your own command'}.`,
  );
  return true;
}

/** Backup, rehearsal, migration. Until the migration nothing that a node uses has changed, so a failure ends the update. */
async function prepare(deps: UpdateDeps, begun: UpdateState): Promise<UpdateState> {
  let state = begun;
  const note = async (more: Partial<UpdateState>) => {
    state = { ...state, ...more };
    await writeState(deps.home, state);
  };
  try {
    if (state.backup === undefined) {
      deps.say('Backup …');
      const backup = await deps.database.backUp();
      await deps.step('backed up');
      await note({ backup });
      await deps.step('backup noted');
    }
    const hasMigrations = !(await isDowngrade(deps, state));
    if (hasMigrations && !state.isRehearsed) {
      deps.say('Migrations on a copy of the schema …');
      await deps.database.rehearse(state.to);
      await deps.step('rehearsed');
      await note({ isRehearsed: true });
    }
  } catch (error) {
    if (!(error instanceof UpdateError)) throw error;
    await removeState(deps.home);
    throw new UpdateError(`${error.message} Nothing has changed: all nodes run ${state.from}.`);
  }
  if (!state.isMigrated) {
    // Before the schema changes: a node of the older version may have to start at any time from then on.
    await deps.acceptSchema(await newestOf(deps, state));
    await deps.step('schema accepted');
    if (!(await isDowngrade(deps, state))) {
      deps.say('Migrations …');
      await deps.database.migrate(state.to);
      await deps.step('migrated');
    }
    await note({ isMigrated: true });
  }
  return state;
}

async function goBack(deps: UpdateDeps, state: UpdateState): Promise<boolean> {
  deps.say(`${state.reason ?? ''} Going back to ${state.from} …`.trim());
  const [older, newer] = await bothMigrations(deps, state);
  const oneWay = newer.slice(older.length).find((name) => ONE_WAY.test(name));
  if (oneWay !== undefined && state.isMigrated && !(await isDowngrade(deps, state))) {
    await writeState(deps.home, { from: state.from, to: state.to, direction: 'forward', ...prepared(state) });
    throw new UpdateError(
      `There is no way back after the migration ${oneWay}. The nodes that are left run ${state.from} on; mend the cause and run the update again.`,
    );
  }
  await deps.acceptSchema(await newestOf(deps, state));
  await deps.step('schema accepted on the way back');
  const failures: string[] = [];
  for (const node of deps.nodes.toReversed()) {
    const problem = await replace(deps, node, state.from);
    if (problem !== undefined) failures.push(`Node ${node} is not ready with ${state.from} either: ${problem}`);
  }
  if (failures.length > 0) {
    throw new UpdateError(`${failures.join(' ')} Mend it, and run the update again: it goes on backwards.`);
  }
  await removeState(deps.home);
  deps.say(
    `All nodes run ${state.from}, as before. The migrations of ${state.to} that were applied stay; the older version runs with them.`,
  );
  return false;
}

function prepared({ backup, isRehearsed, isMigrated }: UpdateState): Partial<UpdateState> {
  return {
    ...(backup !== undefined && { backup }),
    ...(isRehearsed && { isRehearsed }),
    ...(isMigrated && { isMigrated }),
  };
}

/** Returns the reason if the node does not take requests with the release. */
async function replace(deps: UpdateDeps, node: string, release: string): Promise<string | undefined> {
  const isPointed = (await deps.releases.of(node)) === release;
  if (isPointed && (await deps.isServing(node, release))) return undefined;
  deps.say(`Node ${node}: ${release} …`);
  if (!isPointed) await deps.releases.point(node, release);
  await deps.step(`node ${node} pointed`);
  try {
    await deps.restart(node);
  } catch (error) {
    if (!(error instanceof UpdateError)) throw error;
    return error.message;
  }
  await deps.step(`node ${node} restarted`);
  const problem = await deps.waitUntilServing(node, release);
  await deps.step(`node ${node} awaited`);
  return problem;
}

async function newestOf(deps: UpdateDeps, { from, to }: { from: string; to: string }): Promise<string | undefined> {
  const [, newer] = await bothMigrations(deps, { from, to });
  return newer.at(-1);
}

async function isDowngrade(deps: UpdateDeps, { from, to }: { from: string; to: string }): Promise<boolean> {
  return (await deps.releases.migrations(to)).length < (await deps.releases.migrations(from)).length;
}

/** The migrations of both releases, the shorter list first. */
async function bothMigrations(
  { releases }: UpdateDeps,
  { from, to }: { from: string; to: string },
): Promise<readonly [readonly string[], readonly string[]]> {
  const [before, after] = await Promise.all([releases.migrations(from), releases.migrations(to)]);
  return after.length < before.length ? [after, before] : [before, after];
}
