/** Everything a chain knows, as numbers under names. A name that was never written is zero. */
export interface State {
  get(key: string): bigint;
  set(key: string, value: bigint): void;
  /** Runs the work; when it throws, nothing of what it wrote remains. */
  attempt<T>(work: () => T): T;
}

/** A state that remembers what it was at every block, so that it can be asked about, and gone back to. */
export interface History {
  readonly state: State;
  /** From now on writes belong to this block. */
  openBlock(number: number): void;
  /** Forgets all that later blocks wrote. */
  goBackTo(number: number): void;
  /** A copy to try things out on, as it was after that block or as it is now. */
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
  /** The values at the start of the innermost attempt. */
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
