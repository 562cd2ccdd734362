"""Documents of the shapes that published programs send to GitHub are answered.

Each program is known by its public source; the documents are written anew, with the fields and
arguments that it asks for.
"""

from __future__ import annotations

import pytest

from gqlnb import github

REPOSITORY = 'repository(owner: "torvalds", name: "linux")'
PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
SIZES = "languages(first: 10, orderBy: {field: SIZE, direction: DESC})"


def search(fields, kind="REPOSITORY", query="stars:>1000", more=""):
    """Return a search for objects with some fields."""
    return f"""{{ search(query: "{query}", type: {kind}, first: 3) {{
      repositoryCount {PAGE} {more} edges {{ cursor node {{ {fields} }} }} }} }}"""


def repository(fields):
    """Return a document about one repository."""
    return f"{{ {REPOSITORY} {{ {fields} }} }}"


def user(fields):
    """Return a document about one user."""
    return f'{{ user(login: "torvalds") {{ {fields} }} }}'


PROGRAMS = {
    "pelmers/github-repository-metadata": search(
        f"""... on Repository {{ owner {{ login }} name stargazerCount forkCount isFork isArchived
        watchers {{ totalCount }} {SIZES} {{ totalCount edges {{ size node {{ name }} }}
        totalSize }}
        repositoryTopics(first: 100) {{ nodes {{ topic {{ name stargazerCount }} }} }} diskUsage
        issues {{ totalCount }} pullRequests {{ totalCount }} description primaryLanguage {{ name }}
        createdAt pushedAt defaultBranchRef {{ target {{ ... on Commit {{ history {{ totalCount
        }} }} }} }} licenseInfo {{ name }} codeOfConduct {{ name }} forkingAllowed
        assignableUsers {{ totalCount }} parent {{ nameWithOwner }} }}"""
    ),
    "ossf/criticality_score": repository(
        """name url homepageUrl createdAt updatedAt description primaryLanguage { name }
        licenseInfo { name } isMirror watchers { totalCount } stargazerCount
        defaultBranchRef { target { ... on Commit { lastcommits: history(first: 1) { edges { node {
        authoredDate committedDate committer { user { login company } } } } } recent: history(
        since: "2026-01-01T00:00:00Z") { totalCount } } } } tags: refs(refPrefix: "refs/tags/") {
        totalCount } closed: issues(filterBy: {since: "2026-01-01T00:00:00Z"}) { totalCount }"""
    ),
    "ioedeveloper/github-apiv4": """{ viewer { id email login url createdAt updatedAt databaseId
        location companyHTML company avatarUrl bio websiteUrl isHireable isDeveloperProgramMember
        anyPinnableItems isSiteAdmin isViewer viewerCanFollow viewerIsFollowing
        viewerCanCreateProjects isEmployee isBountyHunter isCampusExpert pinnedItemsRemaining
        projectsUrl } }""",
    "ioedeveloper/github-apiv4, files": repository(
        """defaultBranchRef { ... on Ref { target { ... on Commit { files: tree { entries {
        name type child: object { ... on Blob { text } ... on Tree { entries { name type } } } } } }
        } } }"""
    ),
    "atlassian/github-for-jira": repository(
        """pullRequests(first: 20) { nodes { author { avatarUrl login url } databaseId
        comments { totalCount } repository { url } baseRef { name } headRef { name } number state
        title updatedAt url } }"""
    ),
    "atlassian/github-for-jira, commits": repository(
        """ref(qualifiedName: "master") { target { ... on Commit { history(first: 20) { nodes {
        author { avatarUrl name user { url } } authoredDate changedFiles message oid url } } } }
        }"""
    ),
    "anuraghazra/github-readme-stats": user(
        """name login commits: contributionsCollection { totalCommitContributions
        totalPullRequestReviewContributions } repositoriesContributedTo(first: 1,
        contributionTypes: [COMMIT, ISSUE, PULL_REQUEST, REPOSITORY]) { totalCount }
        pullRequests(first: 1) { totalCount } openIssues: issues(states: OPEN) { totalCount }
        closedIssues: issues(states: CLOSED) { totalCount } followers { totalCount }
        repositories(first: 100, ownerAffiliations: OWNER, orderBy: {direction: DESC,
        field: STARGAZERS}) { totalCount nodes { name stargazers { totalCount } } pageInfo {
        hasNextPage endCursor } }"""
    ),
    "yoshi389111/github-profile-3d-contrib": user(
        """contributionsCollection { contributionCalendar { isHalloween totalContributions weeks {
        contributionDays { contributionCount contributionLevel date } } }
        commitContributionsByRepository(maxRepositories: 100) { repository { primaryLanguage { name
        color } } contributions { totalCount } } totalCommitContributions totalIssueContributions
        totalPullRequestContributions totalPullRequestReviewContributions
        totalRepositoryContributions } repositories(first: 100, ownerAffiliations: OWNER) { edges {
        cursor } nodes { forkCount stargazerCount } }"""
    ),
    "portfolio pages": user(
        """bio avatarUrl location company websiteUrl twitterUsername status { emoji message }
        followers { totalCount } following { totalCount } pinnedItems(first: 6, types: REPOSITORY) {
        totalCount nodes { ... on Repository { name description url stargazerCount forkCount
        homepageUrl primaryLanguage { name color } } } }
        socialAccounts(first: 4) { nodes { provider url } }"""
    ),
    "starred lists": """{ viewer { starredRepositories(first: 50, orderBy: {field: STARRED_AT,
        direction: DESC}) { isOverLimit totalCount edges { starredAt node { nameWithOwner
        description } } pageInfo { endCursor hasNextPage } } } }""",
    "gh repo view": repository(
        """id name nameWithOwner owner { id login } description descriptionHTML homepageUrl url
        sshUrl isPrivate isFork isArchived isEmpty isTemplate hasIssuesEnabled hasWikiEnabled
        viewerPermission viewerCanAdminister defaultBranchRef { name target { oid } }
        parent { name owner { login } } mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed
        deleteBranchOnMerge licenseInfo { key name nickname } codeOfConduct { key name url }
        fundingLinks { platform url } watchers { totalCount } latestRelease { name tagName url
        publishedAt } assignableUsers(first: 100) { nodes { id login name } } labels(first: 100) {
        nodes { id color name description createdAt } } milestones(first: 100) { nodes { number
        title description dueOn } } templateRepository { name } visibility"""
    ),
    "gh pr view": repository(
        """pullRequest(number: 1) { id number title state body closed mergeable additions deletions
        isDraft maintainerCanModify mergeStateStatus reviewDecision changedFiles author { login }
        baseRefName headRefName commits(last: 1) { totalCount nodes { commit { oid
        statusCheckRollup { state } } } } reviews(first: 10) { nodes { author { login } state } }
        files(first: 10) { nodes { path additions deletions } } assignees(first: 10) { nodes {
        login } } labels(first: 10) { nodes { name } } milestone { title }
        reactionGroups { content } comments { totalCount } mergedBy { login }
        mergeCommit { oid } }"""
    ),
    "renovate": repository(
        """id isFork isArchived nameWithOwner autoMergeAllowed hasIssuesEnabled mergeCommitAllowed
        rebaseMergeAllowed squashMergeAllowed defaultBranchRef { name target { oid } }
        issues(first: 100, orderBy: {field: UPDATED_AT, direction: DESC}, states: OPEN,
        filterBy: {createdBy: "renovate"}) { nodes { number state title body updatedAt } }
        releases(first: 100) { pageInfo { hasNextPage endCursor } nodes { version: tagName
        releaseTimestamp: publishedAt isDraft isPrerelease url id: databaseId name description } }
        tags: refs(first: 100, refPrefix: "refs/tags/", orderBy: {field: TAG_COMMIT_DATE,
        direction: DESC}) { nodes { version: name target { type: __typename ... on Commit { oid
        committedDate } ... on Tag { target { ... on Commit { committedDate } } tagger { date }
        } } }
        }"""
    ),
    "apache/devlake": """query ($owner: String!, $name: String!) { rateLimit { limit remaining
        resetAt } repository(owner: $owner, name: $name) { issues(first: 100, orderBy:
        {field: UPDATED_AT, direction: DESC}) { nodes { databaseId number state stateReason title
        body author { login ... on User { databaseId name email company avatarUrl } } url closedAt
        createdAt updatedAt assignees(first: 100) { nodes { databaseId login } } milestone {
        number }
        labels(first: 100) { nodes { id name } } } } } }""",
    "turbot/steampipe-plugin-github": repository(
        """id databaseId nodeId: id name isArchived allowUpdateBranch: mergeCommitAllowed
        createdAt defaultBranchRef { name } diskUsage forkCount hasDownloads: hasWikiEnabled
        interactionTopics: repositoryTopics { totalCount } issues { totalCount } visibility
        primaryLanguage { color id name } securityPolicyUrl isSecurityPolicyEnabled
        stargazerCount watchers { totalCount } mirrorUrl lockReason openGraphImageUrl"""
    ),
    "discussions": repository(
        """hasDiscussionsEnabled discussions(first: 5, orderBy: {field: CREATED_AT,
        direction: DESC}) { totalCount nodes { number title url upvoteCount isAnswered answer {
        body } comments { totalCount } reactions { totalCount } category { name emoji }
        author { login avatarUrl } } } discussionCategories(first: 10) { nodes { id name slug } }"""
    ),
    "organization pages": """{ organization(login: "microsoft") { id login name description email
        location url avatarUrl websiteUrl isVerified createdAt membersWithRole(first: 5) {
        totalCount nodes { login name } } repositories(first: 5, orderBy: {field: STARGAZERS,
        direction: DESC}) { totalCount nodes { name stargazerCount primaryLanguage { name } } }
        } }""",
    # What further programs ask for beside that: kept together, as each asks for a few fields.
    "others, of a repository": repository(
        """isDisabled isLocked hasProjectsEnabled usesCustomOpenGraphImage viewerHasStarred
        licenseInfo { spdxId } languages(first: 1) { nodes { name } } labels(first: 1) {
        totalCount } stargazers(first: 1, orderBy: {field: STARRED_AT, direction: ASC}) {
        edges { starredAt } pageInfo { hasNextPage } } repositoryTopics(first: 1) { nodes {
        ... on RepositoryTopic { topic { id } } } } issues(first: 1, labels: ["a"],
        filterBy: {assignee: null}) { pageInfo { hasNextPage } nodes { repository { name } } }
        pullRequests(first: 1, states: MERGED) { pageInfo { hasNextPage } nodes { createdAt
        isCrossRepository headRepositoryOwner { login } } } releases(first: 1) { totalCount nodes {
        createdAt isLatest } } object(expression: "HEAD") { ... on Commit { id history(first: 1) {
        pageInfo { hasNextPage } } } }"""
    ),
    "others, of a user": user(
        """gist(name: "x") { description stargazerCount owner { login } forks { totalCount } }
        organizations(first: 1) { totalCount } contributionsCollection(
        from: "2025-01-01T00:00:00Z", to: "2025-12-31T00:00:00Z") { contributionYears
        restrictedContributionsCount } repositories(first: 1, privacy: PUBLIC, isFork: false,
        orderBy: {field: PUSHED_AT, direction: ASC}) { totalDiskUsage } repositoriesContributedTo(
        first: 1, includeUserRepositories: false, contributionTypes: [PULL_REQUEST_REVIEW]) {
        totalCount }"""
    ),
    "others, of searches": """{ rateLimit { cost }
        topic(name: "graphql") { relatedTopics(first: 1) {
        id } repositories(first: 1) { totalCount } } search(query: "torvalds", type: USER,
        first: 1) { issueCount userCount nodes { ... on Issue { title } ... on PullRequest {
        title } } } }""",
    "owner of either kind": """{ repositoryOwner(login: "microsoft") { __typename login id avatarUrl
        url repositories(first: 2) { nodes { name } } repository(name: "vscode") { name }
        ... on Organization { name description } ... on User { name bio } } }""",
}


@pytest.fixture(scope="module", params=[False, True], ids=["facts", "filled"])
def service(request):
    """Return the stand-in in each of its modes."""
    return github.service(fill=request.param)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_documents_of_programs_are_answered(program, service):
    """With data and without an error; an unknown topic is null."""
    result = service.execute(PROGRAMS[program], {"owner": "torvalds", "name": "linux"})
    assert result.errors == ()
    assert any(value is not None for value in result.data.values()) or "topic" in result.data
