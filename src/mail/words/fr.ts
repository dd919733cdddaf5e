import type { Words } from './en.ts';

export const fr: Words = {
  greeting: 'Bonjour {name},',
  invitationSubject: 'Votre invitation à {site}',
  invitationText: 'vous êtes invité au tableau de bord de {site}. Connectez-vous avec ce lien, jusqu’au {time} :',
  linkSubject: 'Votre lien de connexion à {site}',
  linkText: 'voici votre lien de connexion au tableau de bord de {site}. Il est valable jusqu’au {time} :',
  linkOnce:
    'Le lien ne fonctionne qu’une fois. Ne le transférez pas : toute personne qui l’ouvre est connectée à votre place.',
  unexpected: 'Si vous n’attendiez pas cet e-mail, vous pouvez l’ignorer.',
  receiptSubject: 'Votre reçu de {merchant}',
  receiptText: 'Vous avez payé {amount} à {merchant}.',
  testPayment: 'Il s’agissait d’un paiement de test. Aucun argent réel n’a été déplacé.',
  reference: 'Référence',
  date: 'Date',
  paidWith: 'Payé avec',
  network: 'Réseau',
  account: 'Depuis le compte',
  transaction: 'Transaction',
  items: 'Articles',
  refunds: 'Remboursements',
  lateMoney: 'D’autres sommes sont arrivées',
  lateText:
    'Elles n’ont pas compté pour ce paiement. {merchant} en est informé et peut les rendre : demandez à {merchant} en indiquant votre compte.',
  lateReturning: 'Elles n’ont pas compté pour ce paiement. Leur retour a été demandé.',
  lateReturned: 'Elles n’ont pas compté pour ce paiement et ont été rendues.',
  late: 'Arrivé trop tard',
  overpaid: 'Plus que demandé',
  underpaid: 'Moins que demandé',
  paid_twice: 'Payé une seconde fois',
  wrong_token: 'Un autre jeton',
  wrong_network: 'Un autre réseau',
  pageLink: 'Votre reçu sous forme de page, à imprimer ou à enregistrer en PDF :',
  verify:
    'Pour vérifier ce reçu, cherchez la transaction dans n’importe quel explorateur de blocs de {network}. Elle a déplacé {amount} depuis votre compte et contient votre ordre signé {commitment}.',
  receiptUnexpected:
    'Quelqu’un a saisi cette adresse sur la page du paiement. Si ce n’était pas vous, vous pouvez ignorer cet e-mail.',
};
