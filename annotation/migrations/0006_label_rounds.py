"""A campaign is a label round: its table, the columns that point at it, and their indexes."""

from django.db import migrations, models
from django.db.models.deletion import PROTECT

# Where items, slots and sheets of all kinds say ``round``.
ROUND = ('assignment', 'item', 'slot')
LABEL_ROUND = (
    'adjudication', 'adoption', 'exclusion', 'exportfile', 'finallabel', 'guidelineuse',
    'judgelabel', 'preferredlabels', 'relevancerun', 'snapshot', 'trainedjudge',
)
CONSTRAINTS = {
    'adjudication': [models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True)), fields=('label_round', 'argument', 'rater'), name='adjudication_in_force_once')],
    'adoption': [models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('label_round', 'source', 'rater'), name='adoption_in_force_once')],
    'assignment': [models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('round', 'external_id'), name='vote_external_once')],
    'finallabel': [models.UniqueConstraint(fields=('label_round', 'argument'), name='final_label_once')],
    'item': [models.UniqueConstraint(fields=('round', 'external_id'), name='item_once')],
    'snapshot': [
        models.UniqueConstraint(fields=('label_round', 'number'), name='snapshot_number_once'),
        models.UniqueConstraint(condition=models.Q(('frozen_at__isnull', True)), fields=('label_round',), name='snapshot_live_once'),
    ],
    'trainedjudge': [models.UniqueConstraint(fields=('label_round', 'number'), name='trained_judge_number_once')],
}
BLOCKS = models.CheckConstraint(condition=models.Q(('controls_per_block__lt', models.F('block_size'))), name='label_round_block_holds_ordinary_items')
# What each index was called, and what it is.
INDEXES = {
    'assignment': {
        'annotation__rater_i_4f66c5_idx': models.Index(fields=['rater', 'round', 'state', 'block', 'position'], name='annotation__rater_i_d655b9_idx'),
        'annotation__campaig_7e9223_idx': models.Index(fields=['round', 'state', 'id'], name='annotation__round_i_f3118f_idx'),
        'annotation__campaig_7d3826_idx': models.Index(fields=['round', '-answered_at'], name='annotation__round_i_b2d22a_idx'),
    },
    'finallabel': {
        'annotation__campaig_ff4b9f_idx': models.Index(fields=['label_round', 'is_tied', '-spread', 'id'], name='annotation__label_r_aea631_idx'),
        'annotation__campaig_c1832f_idx': models.Index(fields=['label_round', 'provenance', 'id'], name='annotation__label_r_d014fc_idx'),
        'annotation__campaig_d6c739_idx': models.Index(fields=['label_round', 'label', 'id'], name='annotation__label_r_ddb828_idx'),
    },
    'item': {
        'annotation__campaig_e18e4d_idx': models.Index(fields=['round', 'rank'], name='annotation__round_i_da4572_idx'),
        'item_controls': models.Index(condition=models.Q(('control_label__isnull', False)), fields=['round'], name='item_controls'),
    },
    'judgelabel': {'annotation__campaig_ac73b7_idx': models.Index(fields=['label_round', 'argument'], name='annotation__label_r_a9d9a0_idx')},
    'slot': {'annotation__campaig_bbccd5_idx': models.Index(fields=['round', 'state', 'order'], name='annotation__round_i_9e9927_idx')},
}


class Migration(migrations.Migration):
    dependencies = [('annotation', '0005_plain_words')]

    operations = [
        migrations.RenameModel('Campaign', 'LabelRound'),
        # Constraints and indexes name the columns, so they go before these are renamed.
        migrations.RemoveConstraint('labelround', 'campaign_block_holds_ordinary_items'),
        migrations.AddConstraint('labelround', BLOCKS),
        *(migrations.RemoveConstraint(name, rule.name) for name, rules in CONSTRAINTS.items() for rule in rules),
        *(migrations.RemoveIndex(name, old) for name, indexes in INDEXES.items() for old in indexes),
        *(migrations.RenameField(name, 'campaign', 'round') for name in ROUND),
        *(migrations.RenameField(name, 'campaign', 'label_round') for name in LABEL_ROUND),
        migrations.AlterField('labelround', 'guideline', models.ForeignKey('annotation.guideline', PROTECT, related_name='rounds')),
        *(migrations.AddIndex(name, index) for name, indexes in INDEXES.items() for index in indexes.values()),
        *(migrations.AddConstraint(name, rule) for name, rules in CONSTRAINTS.items() for rule in rules),
    ]
