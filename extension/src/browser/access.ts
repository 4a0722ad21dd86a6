/** What the add-on must be let to reach: sites, to see what they say of a file, and masters and depots anywhere. */
export const WEB_ACCESS = { origins: ['http://*/*', 'https://*/*'] };
