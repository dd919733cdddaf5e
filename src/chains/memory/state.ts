/** The state of a chain, as numbers by key. A key that was never written is zero. */
export interface State {
  get(key: string): bigint;
  set(key: string, value: bigint): void;
  /** Runs a function, and undoes its writes if it throws. */
  attempt<T>(work: () => T): T;
}

/** A state with its history by block, for reads of the past and for rollbacks. */
export interface History {
  readonly state: State;
  /** Opens a block. From then on, writes belong to this block. */
  openBlock(number: number): void;
  /** Removes the writes of later blocks. */
  goBackTo(number: number): void;
  /** A copy of the state for simulations: after the given block, or after the newest one. */
  fork(atBlock?: number): State;
}

interface Version {
  readonly block: number;
  readonly value: bigint;
}

export function createHistory(): History {
  const versions = new Map<string, Version[]>();
  let openedBlock = 0;

  function read(key: string, atBlock: number): bigint {
    return versions.get(key)?.findLast(({ block }) => block <= atBlock)?.value ?? 0n;
  }

  function write(key: string, value: bigint): void {
    const list = versions.get(key) ?? [];
    if (list.at(-1)?.block === openedBlock) list.pop();
    list.push({ block: openedBlock, value });
    versions.set(key, list);
  }

  return {
    state: createState((key) => read(key, openedBlock), write),
    openBlock: (number) => {
      openedBlock = number;
    },
    goBackTo: (number) => {
      openedBlock = number;
      for (const list of versions.values()) {
        while ((list.at(-1)?.block ?? -1) > number) list.pop();
      }
    },
    fork: (atBlock = openedBlock) => {
      const written = new Map<string, bigint>();
      return createState(
        (key) => written.get(key) ?? read(key, atBlock),
        (key, value) => void written.set(key, value),
      );
    },
  };
}

function createState(read: (key: string) => bigint, write: (key: string, value: bigint) => void): State {
  /** The previous values of the keys that the innermost attempt has written. */
  let before: Map<string, bigint> | undefined;

  return {
    get: read,
    set: (key, value) => {
      if (before !== undefined && !before.has(key)) before.set(key, read(key));
      write(key, value);
    },
    attempt: (work) => {
      const outer = before;
      const own = new Map<string, bigint>();
      before = own;
      try {
        const result = work();
        for (const [key, value] of own) if (outer !== undefined && !outer.has(key)) outer.set(key, value);
        return result;
      } catch (error) {
        for (const [key, value] of own) write(key, value);
        throw error;
      } finally {
        before = outer;
      }
    },
  };
}
