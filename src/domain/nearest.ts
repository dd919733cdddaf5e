/**
 * The candidate that a mistyped word most likely meant. Undefined if the word is more than `maxEdits` edits away from every
 * candidate.
 */
export function nearest(
  word: string,
  candidates: readonly string[],
  maxEdits = (candidate: string) => Math.max(2, Math.floor(candidate.length / 3)),
): string | undefined {
  // The time grows with the product of both lengths, so long words are not compared.
  if (word.length > MAX_LENGTH) return undefined;
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= maxEdits(candidate) && distance < candidate.length)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

const MAX_LENGTH = 64;

/** The number of edits between two words: letters added, left out, replaced, or swapped with their neighbour (Damerau-Levenshtein). */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
