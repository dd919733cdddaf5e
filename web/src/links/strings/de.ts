import type { Strings } from './en.ts';

export const de: Strings = {
  amountLabel: 'Betrag in {currency}',
  bounds: 'Von {minimum} bis {maximum}',
  badAmount:
    'Geben Sie einen Betrag von {minimum} bis {maximum} ein, ohne Tausendertrennzeichen: 1000 oder 1,0, nicht 1.000.',
  continueTo: 'Weiter zur Zahlung',
  note: 'Auf dieser Seite wird nichts abgebucht. Sie sehen den Betrag noch einmal, bevor Sie zahlen.',
  left: 'Noch verfügbar: {count}',
  soldOutTitle: 'Ausverkauft',
  soldOutText: 'Alle Stücke sind bezahlt oder werden gerade bezahlt. Versuchen Sie es in einigen Minuten erneut.',
  expiredTitle: 'Dieser Link ist abgelaufen',
  inactiveTitle: 'Über diesen Link kann nicht gezahlt werden',
  closedText: 'Bitten Sie den Händler um einen neuen Link.',
  merchantTitle: 'Der Händler nimmt zurzeit keine Zahlungen an',
  merchantText: 'Versuchen Sie es später erneut oder fragen Sie den Händler.',
  notFoundTitle: 'Diesen Link gibt es nicht',
  notFoundText: 'Prüfen Sie die Adresse oder bitten Sie den Händler um einen neuen Link.',
  busyTitle: 'Hier wurden zu viele Zahlungen begonnen',
  busyText: 'Warten Sie einige Minuten und versuchen Sie es erneut. Auf dieser Seite wird nichts abgebucht.',
  unavailableTitle: 'Die Zahlungsseite ist gerade nicht verfügbar',
  unavailableText: 'Versuchen Sie es gleich noch einmal. Auf dieser Seite wird nichts abgebucht.',
};
