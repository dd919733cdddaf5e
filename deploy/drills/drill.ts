/** A step of a drill, as its table shows it. */
export interface Step {
  readonly step: string;
  readonly result: string;
  /** False if the step did not do what it must. Undefined if it was not run, or is not judged. */
  readonly isGood: boolean | undefined;
}

export interface Drill {
  readonly name: string;
  readonly title: string;
  /** The reason why the drill cannot run on this machine. */
  missing(): string | false;
  /** `isShort`: the form for a run of tests, with fewer steps or rows. */
  run(input: { readonly isShort: boolean; print(text: string): void }): Promise<readonly Step[]>;
}
