import type { Strings } from './en.ts';

export const fr: Strings = {
  amountLabel: 'Montant en {currency}',
  bounds: 'De {minimum} à {maximum}',
  badAmount: 'Saisissez un montant de {minimum} à {maximum}, sans séparateur de milliers : 1000 ou 1,0, et non 1.000.',
  continueTo: 'Continuer vers le paiement',
  note: 'Rien n’est débité sur cette page. Vous reverrez le montant avant de payer.',
  left: 'Encore disponibles : {count}',
  soldOutTitle: 'Épuisé',
  soldOutText: 'Tout est payé ou en cours de paiement. Réessayez dans quelques minutes.',
  expiredTitle: 'Ce lien a expiré',
  inactiveTitle: 'Ce lien n’accepte pas de paiements',
  closedText: 'Demandez un nouveau lien au commerçant.',
  merchantTitle: 'Le commerçant n’accepte pas de paiements en ce moment',
  merchantText: 'Réessayez plus tard ou adressez-vous au commerçant.',
  notFoundTitle: 'Ce lien n’existe pas',
  notFoundText: 'Vérifiez l’adresse ou demandez un nouveau lien au commerçant.',
  busyTitle: 'Trop de paiements ont été commencés ici',
  busyText: 'Attendez quelques minutes, puis réessayez. Rien n’est débité sur cette page.',
  unavailableTitle: 'La page de paiement n’est pas disponible pour le moment',
  unavailableText: 'Réessayez dans un instant. Rien n’est débité sur cette page.',
};
