/** The result of a check. `unclear` means that the chain does not show enough yet, for example because too few endpoints answer. */
export type Check = { readonly is: 'good' } | { readonly is: 'unclear' } | Refused;

interface Refused {
  readonly is: 'refused';
  readonly problem: string;
}

export const GOOD = { is: 'good' } as const;
export const UNCLEAR = { is: 'unclear' } as const;
export const refused = (problem: string): Refused => ({ is: 'refused', problem });
